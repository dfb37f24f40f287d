"""Which jobs an action could evict pods of, and what keeps all of these."""

import pytest
from small_cluster import conf, group, node, pod, queue

from volcano_lab import Cluster
from volcano_lab.explain import Explainer
from volcano_lab.explain.evictions import less_important, may_evict
from volcano_lab.manifests import loader

PLUGINS = ("priority", "gang", "predicates")


def klass(value):
    return loader.from_dict({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                             "metadata": {"name": f"p{value}"}, "value": value})


def explained(*plugins, actions="allocate, preempt, reclaim", theirs="a", priority=5, placed=True,
              reclaimable=True, annotations=None, beside=False, phase=""):
    """A job of queue a and priority 5, and another one; `beside` it a third one of queue b."""
    third = [group("third", "b"), pod("third-0", "third", "n2", requests={"cpu": "1"}),
             node("n2", cpu="1")] * beside
    return Explainer([
        *third,
        queue("a"), queue("b", reclaimable=reclaimable), node("n1", cpu="4"), klass(5),
        klass(priority) if priority != 5 else klass(1),
        group("new", "a", priorityClassName="p5"), pod(
            "new-0", "new", requests={"cpu": "2"}, priority=5),
        group("old", theirs, priorityClassName=f"p{priority}"), pod(
            "old-0", "old", "n1" if placed else "", requests={"cpu": "4"}, priority=priority,
            phase=phase, annotations=annotations, **(
                {} if placed else {"nodeSelector": {"no": "where"}}))],
        conf(*(plugins or PLUGINS), actions=actions), 1_800_000_000.0)


@pytest.mark.parametrize(("theirs", "priority", "placed", "preempts", "reclaims"), [
    ("a", 4, True, True, False), ("a", 5, True, True, False), ("a", 6, True, True, False),
    ("b", 4, True, True, True), ("b", 5, True, False, True), ("b", 6, True, False, True),
    ("a", 4, False, False, False), ("b", 4, False, False, False)])
def test_whose_pods_an_action_is_meant_for(theirs, priority, placed, preempts, reclaims):
    """Preempt: those of its queue, and of lower priorities anywhere; reclaim: of other queues."""
    seen = explained(actions="allocate", theirs=theirs, priority=priority, placed=placed).evidence
    job = seen.ssn.jobs["default/new"]
    assert (may_evict(seen, job, "preempt"), may_evict(seen, job, "reclaim")) == (
        preempts, reclaims)


@pytest.mark.parametrize("plugins", [PLUGINS, PLUGINS[1:]])
@pytest.mark.parametrize(("theirs", "priority", "placed", "less"), [
    ("a", 4, True, True), ("a", 5, True, False), ("a", 6, True, False), ("b", 4, True, False),
    ("a", 4, False, False)])
def test_who_is_less_important(plugins, theirs, priority, placed, less):
    """Without plugin priority every job of its queue that holds something is."""
    explainer = explained(*plugins, actions="allocate", theirs=theirs, priority=priority,
                          placed=placed)
    ssn = explainer.session
    found = [job.uid for job in less_important(ssn, ssn.jobs["default/new"])]
    counts = less if "priority" in plugins else theirs == "a" and placed
    assert found == ["default/old"] * counts
    codes = [cause.code for cause in explainer.why("new").causes]
    assert ("no_preempt_action" in codes) == (less and "priority" in plugins)


@pytest.mark.parametrize(("action", "theirs", "reclaimable", "annotations", "closed", "kept"), [
    ("preempt", "a", False, {"volcano.sh/preemptable": "false"}, [], ["default/old"]),
    ("reclaim", "b", True, {"volcano.sh/preemptable": "false"}, [], ["default/old"]),
    ("reclaim", "b", False, None, ["b"], []),
    ("reclaim", "b", False, {"volcano.sh/preemptable": "false"}, ["b"], ["default/old"])])
def test_what_keeps_all_candidates(action, theirs, reclaimable, annotations, closed, kept):
    """Pods that are not preemptable; for reclaim queues that give nothing back."""
    causes = {cause.code: cause for cause in explained(
        *PLUGINS, "proportion", actions=f"allocate, {action}", theirs=theirs, priority=4,
        reclaimable=reclaimable, annotations=annotations).why("new").causes}
    found = causes[f"{action}_no_candidates"]
    assert [*found.numbers["not_reclaimable"]] == closed and found.context
    assert [uid for code in causes.keys() & {"not_preemptable"}
            for uid in causes[code].numbers["kept"]] == kept


def test_a_queue_that_gives_nothing_back_is_no_matter_of_preempt():
    causes = {action: {cause.code: cause for cause in explained(
        *PLUGINS, "proportion", actions=f"allocate, {action}", theirs="a" if action == "preempt"
        else "b", priority=4, reclaimable=False, beside=True, annotations={
            "volcano.sh/preemptable": "false"}).why("new").causes} for action in (
                "preempt", "reclaim")}
    assert [*causes["preempt"]["preempt_no_candidates"].numbers["not_reclaimable"]] == []
    assert [*causes["reclaim"]["reclaim_no_candidates"].numbers["not_reclaimable"]] == ["b"]


@pytest.mark.parametrize(("action", "theirs", "phase", "codes"), [
    ("reclaim", "b", "Pending", ["not_running"]), ("reclaim", "b", "", []),
    ("preempt", "a", "Pending", [])])
def test_pods_that_have_not_started_keep_their_places_from_reclaim(action, theirs, phase, codes):
    causes = {cause.code: cause for cause in explained(
        *PLUGINS, "proportion", actions=f"allocate, {action}", theirs=theirs, priority=4,
        phase=phase).why("new").causes}
    notes = causes[f"{action}_no_candidates"].said if (
        f"{action}_no_candidates" in causes) else ()
    assert [each.code for each in notes if each.code.startswith("not_")] == codes


@pytest.mark.parametrize(("priority", "evicts"), [(4, True), (5, False), (6, False)])
def test_a_victim_knows_the_plugins_that_named_it_and_who_gets_its_place(priority, evicts):
    causes = {cause.code: cause for cause in explained(
        "priority", "{name: gang, enablePreemptable: false}", "predicates",
        actions="allocate, preempt", priority=priority).why("old").causes}
    assert ("victim" in causes) is evicts
    if evicts:
        assert causes["victim"].numbers == {"named_by": ["priority"], "actions": [
            "preempt"], "winners": ["default/new"]}
        assert "less_important_claimant" not in causes


@pytest.mark.parametrize(("deserved", "held", "said"), [(1, 2, True), (1, 4, False), (4, 2, False)])
def test_queues_that_may_reclaim_are_named_where_a_queue_holds_too_much(deserved, held, said):
    cluster = Cluster().node("n1", cpu=9).queue("a", deserved={"cpu": deserved}).queue(
        "b", deserved={"cpu": 4})
    for name, pods in (("a", 4), ("b", held)):
        cluster.job(f"in-{name}", queue=name, pods=pods, cpu=1, running={"n1": pods})
    settings = conf("gang", "predicates", "capacity", actions="allocate, reclaim")
    text = cluster.why("in-a", evict=True, conf=settings).text
    assert ("Queue b holds less than it deserves and may take them for its jobs" in text) is said
    cluster.queue("c", deserved={"cpu": 2}).job("in-c", queue="c", cpu=1, running={"n1": 1})
    text = cluster.why("in-a", evict=True, conf=settings).text
    assert ("Queues b, c hold less than they deserve" in text) is said


TIERS = """\
actions: "allocate, preempt"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false}]
- plugins: [{name: drf}, {name: predicates}, {name: proportion}]
"""


def tiers(least, cpu, settings=TIERS):
    """A full node of 8 pods with priority 5, and a gang with priority 1 of the same queue."""
    return Explainer([
        queue(), node("n1", cpu="8", memory="64Gi"), klass(1), klass(5),
        group("old", priorityClassName="p5"), *[pod(
            f"old-{n}", "old", "n1", requests={"cpu": "1"}, priority=5) for n in range(8)],
        group("new", minMember=least, priorityClassName="p1"), *[pod(
            f"new-{n}", "new", requests={"cpu": cpu}, priority=1) for n in range(3)]],
        settings, 1_800_000_000.0)


@pytest.mark.parametrize(("settings", "why"), [
    (TIERS, "the tier of plugin priority, which compares them, agrees on no pod there, so a later "
     "tier decides without it: drf"),
    (TIERS.replace("priority}", "priority, enablePreemptable: false}"),
     "plugin priority, which compares them, is not asked about victims"),
    (TIERS.replace("{name: priority}, ", ""),
     "plugin priority, which compares them, is not configured")])
def test_why_priority_does_not_keep_a_more_important_pod(settings, why):
    """It is not configured, is not asked, or its tier was asked and agreed on none."""
    found = tiers(1, "1", settings)
    victim = next(iter(found.evidence.of("victims")))["chosen"][0]
    assert f"default/old has priority 5 and default/new 1 ({why})." in found.why(victim).text


def test_the_tier_that_decides_is_named_where_one_before_it_agrees_on_no_pod():
    cause = next(cause for cause in tiers(3, "7").why("new").causes
                 if cause.code == "not_less_important")
    assert "a later one decides (drf): it allows 1, which is not enough." in cause.text


def test_plugins_that_let_pods_go_for_a_gang_do_not_protect_them_from_its_others():
    codes = [cause.code for cause in tiers(2, "1").why("new").causes]
    assert "minimum_promised" in codes and "not_less_important" not in codes


@pytest.mark.parametrize(("least", "cpu", "head", "rest"), [
    (1, "1", "1 of 8 running pods of default/old is evicted in this cycle.", []),
    (3, "3", "Plugins allow 5 of 8 running pods of default/old for jobs that wait now, and none is "
     "evicted in this cycle.", ["preempt may evict 5 of its 8 pods for default/new. It tried"])])
def test_pods_that_may_be_evicted_are_counted_once(least, cpu, head, rest):
    """Those that are evicted, and those that plugins allow for jobs which may still evict."""
    found = tiers(least, cpu).who_evicts("old")
    assert found.head == head
    assert ("preempt may evict" in found.text) == bool(rest) and all(
        each in found.text for each in rest)


ZONE = {"volcano.sh/revocable-zone": "z"}
SHUFFLE = ("actions: allocate, shuffle\ntiers: [{plugins: [{name: tdm, arguments: "
           "{tdm.revocable-zone.z: '01:00-05:00'}}, {name: gang}, {name: predicates}]}]")
DAWN, LATER = 1_800_000_000 // 86400 * 86400 + 3 * 3600, 1_800_000_000 // 86400 * 86400 + 6 * 3600


def by_hours(hour, *nodes, annotations=None, pods=2, conf=SHUFFLE):
    """A gang on a node that Kubernetes may use from 1 to 5 o'clock."""
    own = [pod(f"old-{number}", "old", "night", requests={"cpu": "1"}, phase="Running",
               annotations={"volcano.sh/preemptable": "true"}) for number in range(pods)]
    return Explainer([queue("default"), node("night", cpu="4", labels=ZONE), *nodes, group(
        "old", minMember=pods, annotations=annotations), *own], conf, hour)


@pytest.mark.parametrize(("nodes", "annotations", "count", "budget", "again"), [
    ((), None, 1, "(1 of each job without the annotation",
     "created in its place now: it waits. The zone is open again from"),
    ((node("day", cpu="4"),), {"volcano.sh/jdb-max-unavailable": "2"}, 2,
     "(annotation volcano.sh/jdb-max-unavailable: 2)",
     "Of 2 pods there, 2 fit nodes outside the zone now: day.")])
def test_after_the_hours_of_a_zone_shuffle_is_the_one_who_evicts(
        nodes, annotations, count, budget, again):
    explain = by_hours(LATER, *nodes, annotations=annotations)
    found, rule = explain.who_evicts("old"), "revocable zone z is open 01:00-05:00 only (UTC)"
    assert found.head == (f"shuffle evicts {count} of 2 running pods of default/old in this cycle, "
                          f"for no other pod: {rule}.")
    assert f"loses pods: shuffle evicts {count} in this cycle: {rule}." in explain.why("old").head
    assert explain.why("default/old-0").head == (
        f"shuffle evicts pod default/old-0 in this cycle, for no other pod: {rule}.")
    for text in (found.text, explain.why("old").text, explain.why("default/old-0").text):
        assert "open 01:00-05:00 (UTC); it is 06:00" in text and budget in text and again in text
        assert f"leaves {2 - count} pods of its gang of 2" in text


def test_the_changes_that_keep_pods_in_a_zone_after_its_hours():
    explain, dawn = by_hours(LATER, pods=1), by_hours(DAWN, pods=1)
    for found, hours in ((explain.who_evicts("old"), "06:59"), (explain.why("old"), "06:59"),
                         (dawn.who_evicts("old"), "05:59")):
        changes = [*map(str, found.remedies)]
        assert changes == [
            "job default/old: volcano.sh/preemptable unset -> false (old loses no pods)",
            "job default/old: volcano.sh/jdb-min-available unset -> 1 (old loses no pods)",
            f"plugin tdm: tdm.revocable-zone.z 01:00-05:00 -> 01:00-{hours} (old loses no pods)",
            "node night: metadata.labels.volcano.sh/revocable-zone z -> null (old loses no pods)",
            "actions without shuffle (old loses no pods)"]
    assert not dawn.why("old").remedies


@pytest.mark.parametrize("budget, hour, said", [
    (1, LATER, "What runs there, 2 pods, leaves at this pace in 2 rounds, the next after"),
    (2, LATER, "What runs there, 1 pod, leaves at this pace in the next round, after"),
    (3, LATER, ""), (1, LATER + 18.97 * 3600, "Before the zone opens one more round, after"),
    (1, DAWN, "What runs there, 3 pods, leaves at this pace in 3 rounds, the next after")])
def test_in_how_many_rounds_all_pods_leave_a_zone(budget, hour, said):
    annotations = {"volcano.sh/jdb-max-unavailable": str(budget)}
    text = by_hours(hour, pods=3, annotations=annotations).who_evicts("old").text
    assert said in text and ("leaves at this pace" in text or "more round" in text) is bool(said)


@pytest.mark.parametrize("key, value, said", [
    ("volcano.sh/jdb-max-unavailble", "2", "has no effect: tdm does not read it there. What "),
    ("volcano.sh/jdb-max-unavailable", "two", "has no effect: tdm reads a number or a percentage"),
    ("volcano.sh/jdb-max-unavailable", "50%", ""),
    ("volcano.sh/other", "2", "")])
def test_a_budget_that_is_misspelt_is_named(key, value, said):
    explain = by_hours(LATER, annotations={key: value})
    for text in (explain.who_evicts("old").text, explain.why("old").text):
        assert said in text and ("has no effect" in text) is bool(said)


def test_before_a_zone_closes_the_first_round_is_announced():
    explain = by_hours(DAWN)
    found = explain.who_evicts("old")
    assert found.head == ("No running pod of default/old is evicted in this cycle; shuffle evicts "
                          "some after 05:00, for no other pod: revocable zone z is open "
                          "01:00-05:00 only (UTC).")
    assert "at this pace in 2 rounds, the next after " in explain.why("old").text
    kept = by_hours(DAWN, annotations={"volcano.sh/jdb-max-unavailable": "0"}).who_evicts("old")
    assert kept.head == "No running pod of default/old may be evicted for a job that waits now."
    assert "keeps these pods now (annotation volcano.sh/jdb-max-unavailable: 0): a rou" in kept.text
    assert "at this pace" not in kept.text and "in its place" not in kept.text


@pytest.mark.parametrize(("hours", "hour", "head", "open_until"), [
    ("22:00-06:00", 5, "shuffle evicts 1 of 2 running pods of default/old in", "22:00-24:00"),
    ("22:00-06:00", 23, "evicts some after 00:00, for no other pod: ", "22:00-24:00"),
    ("00:00-00:00", 23, "No action of the configuration evicts pods", None)])
def test_hours_past_midnight_end_at_midnight(hours, hour, head, open_until):
    explain = by_hours(DAWN // 86400 * 86400 + hour * 3600, conf=SHUFFLE.replace(
        "01:00-05:00", hours))
    found = explain.who_evicts("old")
    assert head in found.head
    assert (f"open {open_until} (UTC); it is {hour:02}:00 in this cycle. The hours {hours} do not "
            "end later than they begin: Volcano v1.14.0 closes the zone from midnight to 22:00."
            in found.text) is bool(open_until)


@pytest.mark.parametrize(("interval", "cpu", "head", "said"), [
    ("0s", 90, "shuffle evicts 1 of 1 running pods of default/old in this cycle",
     "compares the nodes again after"),
    ("5m", 90, "No running pod of default/old is evicted in this cycle; shuffle evicts some after ",
     "by what they use now it then takes default/old-0"),
    ("5m", 60, "No running pod of default/old may be evicted for a job that waits now.", None)])
def test_how_busy_a_node_is_from_which_shuffle_evicts(interval, cpu, head, said):
    by = ("actions: allocate, preempt, shuffle\ntiers: [{plugins: [{name: rescheduling, arguments: "
          f"{{interval: {interval}, metricsPeriod: 10m, strategies: [{{name: lowNodeUtilization, "
          "params: {thresholds: {cpu: 30, memory: 30}, targetThresholds: {cpu: 70, memory: 70}}}]"
          "}}, {name: predicates}]}]")
    nodes = [node(name, cpu="4", annotations={"volcano-lab/cpu-usage": str(used)})
             for name, used in (("busy", cpu), ("idle", 5))]
    found = Explainer([queue("default"), *nodes, group("old"), pod(
        "old-0", "old", "busy", phase="Running")], by, LATER).who_evicts("old")
    assert found.head.startswith(head)
    assert ("Node busy uses 90 % of its cpu" in found.text) == bool(said)
    assert said is None or said in found.text
