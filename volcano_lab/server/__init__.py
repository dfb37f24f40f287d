"""What serves other processes: cycles on a folder that is watched, a page, series for Prometheus.

Only the command line imports it.
"""
