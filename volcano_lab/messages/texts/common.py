"""Marks between the parts of a list, and what many sentences have."""

TEXTS = {
    "join.and": " and ",
    "join.or": " or ",
    "join.,": ", ",
    "join.;": "; ",
    "join.+": " + ",
    "brackets": " ({inner})",
    "list.more": "{shown} and {rest} more",
    "list.held": "{who} {amount}",
    "nothing": "nothing",
    "pods": ("{n} pod", "{n} pods"),
    "jobs": ("{n} job", "{n} jobs"),
    "more_jobs": ("{n} more job", "{n} more jobs"),
}
