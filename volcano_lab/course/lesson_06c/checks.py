"""The boss after lesson 06: a cluster in which four jobs wait, each for a reason of its own."""

from volcano_lab.course.kit.boss import repair

all_at_work = repair("06c", "all_at_work")
