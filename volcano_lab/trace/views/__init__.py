"""A trace as plain rows, by subject: queues, nodes, jobs; the one source of tables, charts and
boards. Amounts are in display units.
"""
