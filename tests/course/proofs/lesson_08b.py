"""What the appendix of lesson 08 says is so."""

from course.proofs import after


@after("cell-67")
def ties(alike, conf_with, look):
    assert len({row["total"] for row in look(alike)}) == 1
    assert all(alike.run(conf_with()).committed[0][2] == "node-1" for _ in range(3))


@after("cell-69")
def many_nodes(enough):
    assert [enough(n) for n in (100, 200, 1000, 10000)] == [100, 100, 420, 500]


@after("cell-71")
def pods_that_ask_for_nothing(with_backfill, without):
    from volcano_lab.plugins.kube.resources import DEFAULTS
    assert without == [] and [step[1] for step in with_backfill] == ["default/new-0"]
    assert [float(amount) for amount in DEFAULTS.values()] == [0.1, 200 * 2**20]


@after("cell-79")
def the_predicate_cache(cached, plain):
    assert plain.committed == [["allocate", "default/w-1", "gpu-1"]] and cached.committed == []
