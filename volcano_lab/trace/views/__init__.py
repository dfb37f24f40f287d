"""A trace as plain rows, by what they are about: queues, nodes, jobs. Answers to no Go file;
nothing here decides.

`tables.trace` shows the rows with pandas, `charts.trace` draws them with altair. Amounts are in the
units people use.
"""
