"""The checks of lesson 11b: what one sees of a scheduler at work."""

from volcano_lab.course.kit.checking import choice

still_there = choice("11b.still_there")
wrong_plugin = choice("11b.wrong_plugin")
look_first = choice("11b.look_first")
