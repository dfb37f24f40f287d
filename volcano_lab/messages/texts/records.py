"""Records of a cycle: what the stepper, the log and `diff` show of each."""

TEXTS = {
    "record.compared": "{plugin} on {about}{level}: {asked} > limit {limit:bare}: refused",
    "record.compared_fits": "{plugin} on {about}{level}: {asked} ≤ limit {limit:bare}: allowed",
    "record.level": ", queue {queue}",
}
