"""A trace as plain rows, by what they are about: queues, nodes, jobs. Answers to no Go file; nothing here decides.

`trace_tables` shows the rows with pandas, `trace_charts` draws them with altair. Amounts are in the units people use.
"""
