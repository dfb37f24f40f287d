"""Which options become remedies: as small as they may be, alternatives together, two where one does
not do alone.
"""

from math import inf
from types import SimpleNamespace

import pytest
from small_cluster import conf

from volcano_lab import Cluster
from volcano_lab.changes import Change
from volcano_lab.explain.explanation import Cause
from volcano_lab.explain.options import Option, Rank, World, once
from volcano_lab.explain.price import Price
from volcano_lab.explain.remedies import remedies_for
from volcano_lab.explain.remedy import Remedy
from volcano_lab.explain.search import FIRSTS, SETS, Search
from volcano_lab.explain.tries import ADMITTED, NOTHING, PLACED
from volcano_lab.framework.config.conf import load_conf
from volcano_lab.messages import Message

WORLD = World(Cluster().node("n1", cpu=1).queue("a").objects(), load_conf(conf("drf", "gang")))


class Tried(Search):
    """A search that knows what each change gives the job, by a function of its settings, and which
    changes the cycles that follow refuse.
    """

    def __init__(self, gives, refused=(), end=inf):
        self.gives_by, self.refuses, self.end, self.large = gives, refused, end, False
        self.offered, self._refused, self._known = set(), set(), {}
        self._enough, self._loops, self.judged_ones = (PLACED, ADMITTED), False, []
        self.world, self.job = WORLD, SimpleNamespace(min_available=1, tasks=())
        self.before = None

    def at(self, change):
        self._known[change] = self.gives_by(set(change.settings))
        return self._known[change]

    def _next(self, change):
        return [], []

    def judged(self, change, rank, alike=()):
        self.judged_ones.append(" ".join(change.settings))
        return None if self.judged_ones[-1] in self.refuses else SimpleNamespace(
            tried=change, rank=rank, alike=alike, price=Price(), placed=0, brings=())


def given(remedies):
    return [" ".join((*each.tried.settings, *(f"or {text}" for other in each.alike
                                             for text in other.settings))) for each in remedies]


def whole(*settings):
    """PLACED where all of these are set."""
    return lambda made: PLACED if made >= {*settings} else NOTHING


def stepped(name, steps, first=1, **facts):
    return Option(lambda step: Change((f"{name}={step}",)), steps=steps, first=first, **facts)


def at_least(name, number, less=NOTHING):
    """PLACED from so many steps of an option on."""
    return lambda made: PLACED if any(int(text.rpartition("=")[2]) >= number for text in made
                                      if text.startswith(f"{name}=")) else less


@pytest.mark.parametrize(("kind", "said"), [
    ("queue", ["a or b or c"]), ("label", ["a or b or c"]), ("group", ["a or b or c"]),
    ("topology", ["a or b or c"]), ("uncordon", ["a or b or c"]),
    ("repair", ["a or b or c"]), ("", ["a", "b", "c"]),
    ("cut", ["a", "b", "c"]), ("minimum", ["a", "b", "c"]), ("toleration", ["a", "b", "c"])])
def test_alternatives_of_one_kind_are_one_remedy(kind, said):
    options = [once(name, kind=kind) for name in ("a", "b", "x", "c")]
    search = Tried(lambda made: NOTHING if made == {"x"} else PLACED)
    assert given(search.singles(options)) == said
    assert len(said) == 1 or not [*search.singles(options)]  # each is offered once


def test_alternatives_are_changes_of_one_step_after_the_option():
    options = [once("a", kind="queue"), stepped("b", 2, kind="queue"), once("c", kind="label"),
               once("d", kind="queue")]
    assert next(iter(given(Tried(lambda made: PLACED).singles(options)))) == "a or d"


@pytest.mark.parametrize(("need", "less", "said"), [
    (1, NOTHING, ["x=1"]), (5, NOTHING, ["x=5"]), (9, NOTHING, ["x=9"]), (10, NOTHING, []),
    (5, ADMITTED, ["x=5"]), (10, ADMITTED, ["x=1"])])
@pytest.mark.parametrize("first", [1, 4, 9])
def test_an_option_is_offered_with_the_fewest_steps(need, less, said, first):
    """Those that give a place; where none does, those that admit the job."""
    assert given(Tried(at_least("x", need, less)).singles([stepped("x", 9, first)])) == said


def test_what_the_cycles_that_follow_refuse_is_judged_once():
    search = Tried(lambda made: PLACED, refused=["a"])
    assert given(search.singles([once("a"), once("b"), once("a"), once("b")])) == ["b"]
    assert search.judged_ones == ["a", "b"]


@pytest.mark.parametrize(("refused", "said"), [
    ([], ["x=2"]), (["x=2"], ["x=4"]), (["x=2", "x=4"], [])])
def test_what_is_enough_by_sums_is_offered_where_less_holds_for_one_cycle_only(refused, said):
    assert given(Tried(at_least("x", 2), refused).singles([stepped("x", 8, first=4)])) == said


@pytest.mark.parametrize(("name", "refused", "said"), [
    ("pod/p.nodeSelector={}", [""], "b"), ("pod/p.nodeSelector={}", ["", "B "], "c"),
    ("pod/p.nodeSelector={}", ["", "B ", "C "], "b c"),
    ("pod/p.nodeSelector={}", [], ""), ("pod/p.nodeSelector={}", ["", "B ", "C ", "B C "], None),
    ("pod/p.other={}", [""], None)])
def test_fields_that_help_for_one_cycle_only_are_tried_with_nodes_uncordoned(name, refused, said):
    opens = {each.upper(): f"node/{each}.unschedulable=false" for each in "bc"}
    search = Tried(lambda made: PLACED, [text.replace("B", opens["B"]).replace(
        "C", opens["C"]) + name for text in refused])
    search.world = SimpleNamespace(nodes={each: SimpleNamespace(spec=SimpleNamespace(
        unschedulable=each != "a")) for each in "abc"})
    assert given(search.singles([once(name, rank=Rank.JOB)])) == ([] if said is None else [
        " ".join([*(opens[each.upper()] for each in said.split()), name])])


def test_after_the_end_nothing_is_tried():
    search = Tried(lambda made: PLACED, end=-1.0)
    assert not [*search.singles([once("a")])] and not search.judged_ones


@pytest.mark.parametrize(("first", "seconds", "gives", "said"), [
    ("a", "b", whole("a", "b"), ["a b"]), ("a", "b", whole("a"), []), ("a", "b", whole("b"), []),
    ("a", "b c", whole("a", "c"), ["a c"]), ("a", "a b", whole("a", "b"), ["a b"]),
    ("a", "b", whole("a", "b", "c"), []),
    ("a b", "c", lambda made: PLACED if "c" in made and made & {"a", "b"} else NOTHING,
     ["a c", "b c"]),
    ("a b c", "d", lambda made: PLACED if "d" in made and len(made) > 1 else NOTHING,
     ["a d", "b d"])])
def test_two_changes_where_none_does_alone(first, seconds, gives, said):
    """At most so many, and none that contains what is offered already."""
    search = Tried(gives)
    firsts = [once(name) for name in first.split()]
    assert not [*search.singles(firsts)] or said == []
    found = given(search.sets(firsts, frozenset({Rank.QUEUE}), [*map(once, seconds.split())]))
    assert found == said and len(found) <= SETS
    assert not [*search.sets(firsts, frozenset({Rank.QUEUE}), [*map(once, seconds.split())])]


def test_the_alternatives_of_a_set_are_offered_once():
    first = once("a")
    search = Tried(lambda made: PLACED if "a" in made and len(made) > 1 else NOTHING)
    assert not [*search.singles([first])]
    seconds = [once(name, kind="label") for name in ("b", "c")]
    assert given(search.sets([first], frozenset({Rank.QUEUE}), seconds)) == ["a b or a or c"]
    assert not [*search.sets([first], frozenset({Rank.QUEUE}), seconds[::-1])]


@pytest.mark.parametrize(("x", "y"), [(1, 1), (3, 2), (9, 9), (2, 7)])
def test_both_changes_of_a_set_are_as_small_as_the_other_allows(x, y):
    def gives(made):
        return min(at_least("x", x)(made), at_least("y", y)(made))

    search, first = Tried(gives), stepped("x", 9)
    assert not [*search.singles([first])]
    assert given(search.sets([first], frozenset({Rank.QUEUE}), [stepped("y", 9)])) == [
        f"x={x} y={y}"]


@pytest.mark.parametrize("kind", ["cut", "queue", "minimum", "guard", "", "label"])
@pytest.mark.parametrize("ranks", [{Rank.QUEUE}, {Rank.QUEUE, Rank.NODES}])
def test_what_makes_another_job_is_no_part_of_a_set_unless_nodes_are_bought(kind, ranks):
    search, first = Tried(whole("a", "b")), once("a", kind=kind)
    assert not [*search.singles([first])]
    found = given(search.sets([first], frozenset(ranks), [once("b")]))
    assert bool(found) == (kind in ("", "label") or Rank.NODES in ranks)


def test_sets_are_sorted_by_what_they_change_and_begin_with_a_few():
    ranks = [Rank.OTHERS, Rank.JOB, Rank.QUEUE, *[Rank.SWITCH] * 9]
    firsts = [once(f"a{number}", rank=rank) for number, rank in enumerate(ranks)]
    search = Tried(lambda made: PLACED if "b" in made and len(made) > 1 else NOTHING)
    assert not [*search.singles(firsts)]
    found = [*search.sets(firsts, frozenset({Rank.QUEUE}), [once("b", rank=Rank.HARMLESS)])]
    assert [each.rank for each in found] == [Rank.SWITCH] * SETS
    assert len(search.judged_ones) == FIRSTS == len(search.offered)


def searched(options, gives, monkeypatch, large=False, refused=(), nodes=3, **facts):
    """What a whole search offers of some options."""
    search = Tried(gives, refused)
    search.keep, search.large = False, large
    search.before = SimpleNamespace(nodes=dict.fromkeys(range(nodes)))
    search._next = lambda change: ([], [each for each in options if each.most != change])
    monkeypatch.setattr("volcano_lab.explain.search.candidates", lambda *_: options)
    return search, given(search.found([]))


QUEUES, REQUEST = once("queue/a.weight=2"), once("job/x.requests.cpu=1", rank=Rank.REQUEST)
NODES = Option(lambda count: Change((f"node/n1.more={count}",)), Rank.NODES, 2, 1)
WAITS = [Option(lambda count, names=names: Change(removals=names), Rank.WAIT) for names in (
    ("job/a", "job/b"), ("job/c",), ("job/d",))]


def placed_by(*texts):
    return lambda made: PLACED if any(text in made for text in texts) else NOTHING


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize(("texts", "said"), [
    (["queue/a.weight=2"], ["queue/a.weight=2"]),
    (["node/n1.more=1"], ["node/n1.more=1"]),
    (["node/n1.more=1", "job/x.requests.cpu=1"], ["node/n1.more=1", "job/x.requests.cpu=1"]),
    (["queue/a.weight=2", "job/x.requests.cpu=1"], ["queue/a.weight=2"]),
    (["job/x.requests.cpu=1"], ["job/x.requests.cpu=1"]),
    ([], [])])
def test_a_smaller_request_is_offered_where_else_only_nodes_help(texts, said, large, monkeypatch):
    _, found = searched([QUEUES, REQUEST, NODES], placed_by(*texts), monkeypatch, large)
    assert found == said


@pytest.mark.parametrize(("large", "most"), [(False, ("job/c",)), (True, ("job/a", "job/b"))])
def test_the_fewest_jobs_are_waited_for_of_two_choices_or_in_a_large_cluster_the_first(
        large, most, monkeypatch):
    search, found = searched(WAITS, lambda made: PLACED, monkeypatch, large)
    assert found == [""] and most in {change.removals for change in search.offered}
    assert ("job/d",) not in {change.removals for change in search._known}


@pytest.mark.long
@pytest.mark.parametrize(("least", "left", "said"), [
    (1, (15, 13), ["request per pod cpu 16 -> 13", "2 more nodes like n0"]),
    (1, (15, 8), ["request per pod cpu 16 -> 15", "2 more nodes like n0"]),
    (1, (15, 13, 12), ["request per pod cpu 16 -> 12", "3 more nodes like n0"]),
    (3, (15, 13), ["request per pod cpu 16 -> 13", "2 more nodes like n0"])])
def test_what_places_all_pods_is_offered_before_what_places_some(least, left, said):
    cluster = Cluster().node("n0", cpu=16).job(
        "new", pods=len(left) + 1, min_member=least, cpu=16, running={"n0": 1})
    for number, cpu in enumerate(left, 1):
        cluster.node(f"n{number}", cpu=16).job(f"old{number}", cpu=16 - cpu, running={
            f"n{number}": 1})
    found = cluster.why("new", conf=conf("gang", "predicates", actions="allocate"))
    assert [each.change.removeprefix("job default/new: ") for each in found.remedies
            if "wait for" not in each.change][:2] == said


@pytest.mark.long
@pytest.mark.parametrize("pods", [3, 4, 7])
def test_a_large_cluster_is_offered_no_more_nodes_than_the_job_takes(pods):
    """Nodes are sought in wide steps there."""
    cluster = Cluster().job("train", pods=pods, cpu=8)
    for number in range(64):
        cluster.node(f"n{number}", cpu=8).job(f"old{number}", cpu=4, running={f"n{number}": 1})
    found = cluster.why("train", conf=conf("gang", "predicates", actions="allocate")).remedies
    assert f"{pods} more nodes like n0" in [each.change for each in found]


@pytest.mark.parametrize(("need", "said"), [(1, ["node/n1.more=1"]), (2, ["node/n1.more=2"]),
                                            (4, ["node/n1.more=4"]), (10, ["node/n1.more=10"]),
                                            (11, [])])
def test_as_many_nodes_as_there_are_may_be_bought(need, said, monkeypatch):
    """Also for the jobs that are served before this one."""
    assert searched([NODES], at_least("node/n1.more", need), monkeypatch, nodes=10)[1] == said


@pytest.mark.parametrize(("taken", "tried"), [(4, False), (60, True)])
def test_as_many_nodes_as_the_job_takes_are_tried_unless_more_are_known_to_be_too_few(taken, tried):
    search = Tried(at_least("node/n1.more", 40))
    search.large = True
    option = stepped("node/n1.more", 100, rank=Rank.NODES)
    made = search.fewest(option)
    said = SimpleNamespace(facts={"nodes": [Message("gains.left", n=taken)]})
    search._fewer(option, SimpleNamespace(tried=made, brings=(said,)))
    assert (option.at(taken) in search._known) is tried


def test_in_a_large_cluster_what_needs_no_evictions_is_tried_first(monkeypatch):
    options = [once("queue/a.weight=2"), once("job/x.priority=9"), once("node/n1.taints=[]"),
               once("queue/a.reclaimable=false", rank=Rank.SWITCH)]
    found = searched(options, lambda made: PLACED, monkeypatch, large=True)[1]
    assert found == ["node/n1.taints=[]", "job/x.priority=9", "queue/a.weight=2",
                     "queue/a.reclaimable=false"]
    both = searched(options, whole("job/x.priority=9", "node/n1.taints=[]"), monkeypatch,
                    large=True)[1]
    assert both == ["job/x.priority=9 node/n1.taints=[]"]
    assert searched(options, whole("job/x.priority=9", "queue/a.weight=2"), monkeypatch,
                    large=True)[1] == ["queue/a.weight=2 job/x.priority=9"]


def test_in_a_large_cluster_fewer_pods_of_one_holder_are_tried_after_more_nodes(monkeypatch):
    """There are hundreds of holders."""
    fewer = Option(lambda count: Change(removals=("pod/a/1", "pod/a/2")[:count]), Rank.LESS, 2)
    assert searched([NODES, fewer], lambda made: PLACED, monkeypatch, large=True)[1] == [
        "node/n1.more=1", ""]


@pytest.mark.parametrize(("actions", "ends", "said"), [
    ("preempt, allocate", "conf/actions=allocate, preempt",
     ["conf/actions=allocate, preempt queue/a.weight=2"]),
    ("allocate, preempt", "plugin/drf.enablePreemptable=false",
     ["plugin/drf.enablePreemptable=false queue/a.weight=2"]),
    ("allocate, preempt", "plugin/drf.enableReclaimable=false", []),
    ("allocate, reclaim", "plugin/drf.enableReclaimable=false",
     ["plugin/drf.enableReclaimable=false queue/a.weight=2"]),
    ("allocate, preempt", None, [])])
def test_what_ends_evictions_that_go_round_is_offered_with_the_change(actions, ends, said):
    search = Tried(lambda made: PLACED)
    search.world = World(Cluster().node("n1", cpu=1).queue("a").objects(), load_conf(
        conf("drf", "gang", actions=actions)))

    def judged(change, rank, alike=()):
        search._loops = ends not in change.settings
        return None if search._loops else SimpleNamespace(
            tried=change, rank=rank, alike=alike, price=Price(), placed=0)

    search.judged = judged
    found = [*search.singles([once("queue/a.weight=2", rank=Rank.QUEUE)])]
    assert given(found) == said and all(each.rank == Rank.QUEUE for each in found)


@pytest.mark.parametrize("large", [False, True])
def test_in_a_large_cluster_the_search_ends_early_once_three_changes_are_found(monkeypatch, large):
    """Also those that cost others more than the job: they are shown last."""
    ends = []

    def found(self, causes):
        self.large = large
        for share in (0, 2, 0, 0, 0):
            yield Remedy((), Change(("queue/a.weight=2",)), Rank.QUEUE, self.world,
                         price=Price(share=share))
            ends.append(self.end)

    monkeypatch.setattr(Search, "found", found)
    explain = Cluster().node("n1", cpu=1).job("a", cpu=2).explainer()
    shown = [*remedies_for(explain.evidence, explain.session.jobs["default/a"], [], 100)]
    assert [each.price.dear for each in shown] == [0, 0, 0, 0, 2]
    assert [end < ends[0] for end in ends] == [False, False, *[large] * 3]


class Chained(Tried):
    """Doors one after another: each is a cause until its setting is made."""

    doors = ("a", "b", "c")

    def _next(self, change):
        closed = [door for door in self.doors if door not in change.settings]
        context = Cause("other", "always", context=True)
        return [context, *(Cause(door, door) for door in closed)], [
            once("useless"), once("cut", kind="minimum"), *map(once, closed[:1])]


@pytest.mark.parametrize(("doors", "said"), [
    ("a b c", ["a b c"]), ("a b", ["a b"]), ("a", ["a"]), ("a b c d e f g", []), ("", [])])
def test_a_chain_opens_one_door_after_the_other(doors, said):
    """At most six, without what opens none, or makes another job of it."""
    search = Chained(whole(*doors.split()) if doors else lambda made: NOTHING)
    search.doors = doors.split()
    assert given(search.chain()) == said


def test_a_chain_of_one_change_that_is_offered_already_is_not_offered_again():
    search = Chained(whole("a"))
    search.doors = "a"
    assert given(search.singles([once("a")])) == ["a"] and not [*search.chain()]


def test_a_chain_leaves_out_what_later_changes_make_needless():
    search = Chained(whole("c"))
    assert given(search.chain()) == ["c"]


def test_what_ends_others_for_some_pods_only_and_what_breaks_gangs_come_last(monkeypatch):
    def found(self, causes):
        for ends, torn, placed in (({"b": 1}, 0, 1), ({}, 0, 3), ({}, 1, 3), ({"b": 1}, 0, 3)):
            yield Remedy((), Change(), 0, self.world, "", placed, Price(ends=ends, torn=torn))

    monkeypatch.setattr(Search, "found", found)
    explain = Cluster().node("n1", cpu=1).job("a", pods=3, cpu=2).explainer()
    shown = [*remedies_for(explain.evidence, explain.session.jobs["default/a"], [], 100)]
    assert [(bool(each.price.ends), each.placed) for each in shown] == [
        (False, 3), (True, 3), (True, 1), (False, 3)]


IN_ORDER = [
    (Rank.HARMLESS, {}, "podgroup/default/ghost.minMember=0"),
    (Rank.SWITCH, {"evicts": {"b": 1}, "owed": True}, "conf/actions=reclaim"),
    (Rank.QUEUE, {}, "queue/default.capability.cpu=4"),
    (Rank.SWITCH, {}, "node/n1.unschedulable=false"),
    (Rank.OTHERS, {}, "job/default/a.queue=b queue/default.weight=2"),
    (Rank.OTHERS, {}, "node/n1.metadata.labels.a=b node/n2.metadata.labels.a=b"),
    (Rank.SWITCH, {}, "plugin/proportion.tier=null"),
    (Rank.JOB, {"evicts": {"b": 1}, "owed": True}, "job/default/a.requests.cpu=1"),
    (Rank.QUEUE, {"waits": ["b"]}, "plugin/overcommit.overcommit-factor=2"),
    (Rank.JOB, {"waits": ["b"]}, "conf/actions=enqueue,allocate,backfill"),
    (Rank.SWITCH, {"waits": ["b"]}, "conf/actions=backfill"),
    (Rank.WAIT, {}, ""), (Rank.NODES, {"evicts": {"b": 1}, "owed": True}, "node/n1.more=1"),
    (Rank.REQUEST, {}, "job/default/a.requests.cpu=100m"),
    (Rank.LESS, {}, "conf/actions=allocate"),
    (Rank.SWITCH, {"evicts": {"b": 1}, "owed": True, "torn": True}, "conf/actions=reclaim")]


@pytest.mark.parametrize("first", range(len(IN_ORDER) - 1))
def test_what_is_owed_comes_first_and_what_all_share_after_what_one_has(monkeypatch, first):
    """Of what is offered, in whatever order it is found."""
    def found(self, causes):
        for rank, price, settings in (IN_ORDER[first + 1], IN_ORDER[first]):
            yield Remedy((), Change(tuple(settings.split())), rank, self.world,
                         price=Price(**price))

    monkeypatch.setattr(Search, "found", found)
    explain = Cluster().node("n1", cpu=1).job("a", cpu=2).explainer()
    shown = [*remedies_for(explain.evidence, explain.session.jobs["default/a"], [], 100)]
    assert [(each.rank, " ".join(each.tried.settings)) for each in shown] == [
        (rank, settings) for rank, _, settings in IN_ORDER[first:first + 2]]


class Ended(Tried):
    """A setting and the end of any job place it together."""

    def at(self, change):
        self._known[change] = PLACED if change.settings and change.removals else NOTHING
        return self._known[change]


def test_of_sets_that_end_one_job_or_another_one_is_shown():
    seconds = [once(removals=(f"job/default/{name}",)) for name in "bc"]
    found = [*Ended(None).sets([once("a")], frozenset({Rank.QUEUE}), seconds)]
    assert [each.tried for each in found] == [Change(("a",), ("job/default/b",))]
