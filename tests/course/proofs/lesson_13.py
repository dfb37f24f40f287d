"""What lesson 13, "Your own cluster", says is so."""

import re
from collections import Counter

from course.proofs import after
from volcano_lab import lab
from volcano_lab.api.objects import Node, Queue
from volcano_lab.cache import Cache
from volcano_lab.cluster import Cluster
from volcano_lab.manifests.conf import scheduler_conf_of
from volcano_lab.manifests.defaults import with_defaults
from volcano_lab.manifests.export import anonymised
from volcano_lab.manifests.loader import load
from volcano_lab.scheduler import run_cycle


@after("own-03")
def forty_nodes_and_six_queues(file, volcano_lab):
    loaded = load(file)
    assert sum(isinstance(obj, Node) for obj in loaded) == 40
    assert sum(isinstance(obj, Queue) for obj in loaded) == 6
    assert "missing" not in repr(volcano_lab(f"capture {file}"))


@after("own-03")
def the_line_for_a_shell_writes_the_file_that_is_named(volcano_lab):
    assert re.search(r"kubectl get .* > cluster.json; kubectl get events .* >> cluster.json; "
                     r"kubectl get configmap .* >> cluster.json$", repr(volcano_lab("capture")))


@after("own-06")
def one_warning(file, volcano_lab):
    said = repr(volcano_lab(f"lint {file}"))
    assert "did you mean binpack.weight?" in said and "0 errors, 1 warning" in said


@after("own-queues")
def what_queues_hold(file, fullness, Cluster):
    said = fullness(Cluster.read(file), "", ["cpu", "nvidia.com/gpu"]).alt
    assert "nlp gpu: 48 is 1.20 = 48 / 40. " in said and "vision gpu: 0 is 0.00 = 0 / 8. " in said
    assert "ci cpu: 160 is 0.57 = 160 / 280. " in said


@after("own-06")
def the_first_and_last_lines_of_the_configuration(scene):
    assert scene.CONF.startswith('actions: "enqueue, allocate, backfill"\ntiers:\n')
    assert scene.CONF.rstrip().endswith(
        "  - name: nodeorder\n  - name: binpack\n    arguments:\n      binpack.wieght: 5")


@after("own-16")
def what_is_said_of_reindex(file, volcano_lab):
    said = " ".join(repr(volcano_lab(f"run {file}")).split())
    assert ("0/40 nodes are unavailable: 3 node(s) were unschedulable, 37 node(s) didn't match "
            "Pod's node affinity/selector.") in said and "ci/nightly-4412 ci Pending" in said


@after("own-write")
def a_node_that_is_not_cordoned_has_not_the_label(file, volcano_lab):
    assert "to do" in repr(volcano_lab(...))
    said = " ".join(repr(volcano_lab(f"why {file} web/reindex-worker-0 --node m01")).split())
    assert "node selector is disk=ssd" in said and "cordoned" not in said


@after("own-08")
def three_jobs_with_pods_wait(file, volcano_lab):
    said = repr(volcano_lab(f"why {file} --all --no-remedies"))
    assert said.count("\n1 job:") == 3 and said.startswith("9 jobs: batch/spark-00")
    jobs = Cluster.read(file).run().jobs()
    assert [sum(bool(job["pods"]) == has for job in jobs) for has in (True, False)] == [9, 9]
    assert {(job["queue"], job["phase"]) for job in jobs if not job["pods"]} == {
        ("batch", "Inqueue")}


@after("own-14")
def neither_the_minimum_of_pretrain_nor_the_limit_of_web_is_the_cause(file):
    cycle = Cluster.read(file).run()
    jobs = {job["job"].partition("-")[0]: job for job in cycle.jobs()}
    assert (jobs["nlp/pretrain"]["min_member"], jobs["nlp/pretrain"]["placed"]) == (8, 48)
    web = next(queue for queue in cycle.queues() if queue["queue"] == "web")
    assert (web["real_capability"]["cpu"], web["allocated"]["cpu"]) == (260, 240)


@after("own-10")
def the_sum_of_admission(file, volcano_lab):
    said = " ".join(repr(volcano_lab(f"why {file} nightly-4412 --no-remedies")).split())
    assert "cpu 1024 reserved + 120 requested = 1144, limit 1110.4 (1792 in the" in said
    assert "less 1040 in use" in said and 1792 - 1040 == 752
    drawn = Cluster.read(file).run().plot.sums("nightly-4412").alt
    assert "in queue 1024 + this job 120 is 1144 of 1110.4: refused" in drawn
    queues = " ".join(repr(volcano_lab(f"run {file}")).split())
    assert "ci 0.571 cpu 280 1792 160 280" in queues


@after("own-14")
def vision_deserves_eight_gpus(file, volcano_lab):
    said = " ".join(repr(volcano_lab(f"why {file} segment --no-remedies")).split())
    assert "Queue nlp holds nvidia.com/gpu 48, deserved 40: " in said
    assert "cordoned" not in said


@after("own-16")
def reclaim_takes_eight(file, volcano_lab):
    said = repr(volcano_lab(
        f"what-if {file} --set 'conf/actions=enqueue, allocate, reclaim, backfill'"))
    assert "8 more pods are evicted. Fewer pods of vision/segment wait." in said
    assert said.count("on g01") == 16
    assert "8 of 48 pods of nlp/pretrain wait in queue nlp" in " ".join(said.split())


@after("own-18")
def what_would_let_reindex_in(file, volcano_lab):
    said = " ".join(repr(volcano_lab(f"why {file} reindex --seconds 60 -o wide")).split())
    assert "uncordon any of 3: m03, m06, m09 reindex is placed on m03" in said
    assert "without its node selector disk=ssd reindex is placed on m10, c05" in said


@after("own-22")
def tuesday_nightly_runs(file, tuesday, volcano_lab):
    said = repr(volcano_lab(f"diff {file} {tuesday}"))
    assert said.startswith("30 more pods are placed. Fewer pods of ci/nightly-4412 wait.")
    phases = {job["job"].partition("-")[0]: job["phase"] for job in Cluster.read(file).run().jobs()}
    assert "batch/spark-08." in said and "batch/spark-07" not in said
    assert phases["vision/segment"] == phases["web/reindex"] == "Inqueue"


@after("own-22")
def three_of_four_changes_admit_nightly(file):
    cluster, nightly = Cluster.read(file), "ci/nightly-4412"
    admits = {name: cluster.what_if(remove=[name]).holds(nightly)
              for name in ("podgroup/spark-08", "job/build-4411", "job/segment")}
    assert admits == {"podgroup/spark-08": True, "job/build-4411": True, "job/segment": False}
    larger = cluster.copy().node("c25", cpu=32, memory="128Gi")
    assert cluster.diff(larger).holds(nightly)
    said = cluster.what_if(remove=["job/segment"]).after.why(nightly)
    assert "cpu 1128 > limit 1110.4" in said[0]


@after("own-16")
def the_bill_without_its_table_of_queues(bill):
    assert [len(bill), bill[3].split(" ")[0]] == [6, "Queues,"]


@after("own-22")
def the_diff_begins_with_what_is_gone(changed):
    assert "batch/spark-08" in changed[1] and changed[2].startswith("Jobs, ")


@after("own-16")
def nlp_pays_with_its_gpus(file, reclaim, who_pays):
    moments = who_pays(file, reclaim, "nvidia.com/gpu", "").data
    states = [Counter(pod["state"] for node in moment["nodes"] for pod in node["pods"])
              for moment in moments]
    assert states == [{"running": 48}, {"running": 40, "leaving": 8, "promised": 8}]
    queues = lab(file).board["channels"]["queues"]
    drawn = {pod["name"].partition("/")[0]: pod["color"] for node in moments[-1]["nodes"]
             for pod in node["pods"]}
    colors = {row["queue"]: row["color"] for row in queues}
    assert drawn == {queue: colors[queue] for queue in ("nlp", "vision")}


@after("own-lab")
def the_highest_minimum_for_one_and_for_both(file, tasks):
    opened, minimum = lab(file, tasks=tasks("13")), "job/ci/nightly-4412.minAvailable"
    fates = {least: [opened.set(**{minimum: least}).facts.jobs[job]["fate"] for job in (
        "ci/nightly-4412", "web/reindex")] for least in (22, 21, 18, 17)}
    assert fates == {22: ["not admitted", "discarded"], 21: ["placed", "not admitted"],
                     18: ["placed", "not admitted"], 17: ["placed", "discarded"]}


@after("own-24")
def names_go_and_amounts_stay(own, hidden):
    kept = [line for line, other in zip(own, hidden, strict=True) if line == other]
    assert not {"nlp", "pretrain", "registry"} & {*re.findall(r"\w+", "\n".join(hidden))}
    assert "image:" not in "\n".join(own) and "  name: c01" in own[:12]
    assert "  minMember: 8" in kept and "    cpu: '32'" in own[:12]


@after("own-24")
def every_decision_stays_the_same(file):
    loaded = load(file)
    conf = scheduler_conf_of(loaded)
    runs = [run_cycle(Cache(with_defaults(objects)), conf).committed
            for objects in (loaded, anonymised(loaded))]
    assert [row[0] for row in runs[0]] == [row[0] for row in runs[1]] and len(runs[0]) == len(
        runs[1])
