"""Services for other processes: cycles on a watched folder, a page, series for Prometheus.

Only the command line imports it.
"""
