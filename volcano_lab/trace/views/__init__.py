"""A trace as plain rows, by what they are about: queues, nodes, jobs; the one source of tables,
charts and boards. Amounts are in the units people use.
"""
