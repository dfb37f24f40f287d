"""The riddles: each can be solved by its hints, none by the first thing one tries."""

import re
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from course.answers.riddles import last_hint
from volcano_lab.cli.grammar import volcano_lab
from volcano_lab.course.kit.verdict import RIGHT, TO_DO, TRY_AGAIN, WELL_DONE
from volcano_lab.course.riddles import Kubectl, riddle, riddles, score
from volcano_lab.course.riddles.kubectl import WIDTH

NOTEBOOK = nbformat.read(
    Path(__file__).parents[2] / "notebooks/17-riddles.ipynb", as_version=4)
NUMBERS = tuple(riddles())
FIRST_GUESS = {
    1: ["queue/vision.weight=9"], 2: ["queue/search.weight=9"], 3: ["queue/science.weight=9"],
    4: ["remove podgroup/nightly-etl"], 5: ["queue/default.weight=9"], 6: ["queue/owner.weight=9"],
    7: ["queue/stats.capability[cpu]=24"], 8: ["queue/ml.capability[cpu]=30"],
    9: ["job/allreduce.minAvailable=3"], 10: ["queue/serving.capability[nvidia.com/gpu]=2"],
    11: ["conf/actions=allocate, reclaim, backfill"], 12: ["node/n3.unschedulable=false"]}
"""Number -> what people try first: more weight, more capability, one of two causes."""


@pytest.fixture
def game(request):
    found = riddle(request.param)
    found.again()
    yield found
    found.again()


def named(number):
    """A riddle begun again, with its causes named."""
    found = riddle(number)
    found.again()
    for letter in found.right:
        found.cause(letter)
    return found


every = pytest.mark.parametrize("game", NUMBERS, indirect=True)


@pytest.mark.long
@every
def test_the_first_guess_does_not_solve_it(game):
    for letter in game.right:
        game.cause(letter)
    assert game.repair(*FIRST_GUESS[game.number]).state == TRY_AGAIN
    assert not game.repaired


@every
def test_its_hints_solve_it_with_the_fewest_changes(game, capsys):
    for _ in game.hints:
        game.hint()
    repair = last_hint(game)
    assert len(repair) == game.smallest
    *others, last = sorted(game.right)
    assert [game.cause(letter).state for letter in others] == [RIGHT] * len(others)
    assert f"({len(others)} of {len(game.right)} named)" in game.repair(*repair).text
    assert not game.repaired
    assert game.cause(last).state == WELL_DONE
    said = game.repair(*repair)
    assert said.state == WELL_DONE and "The same on a real cluster: `kubectl " in said.text
    assert capsys.readouterr().out == "<cluster: After the repair>\n"
    assert game.solved and game.points == 100 - 10 * len(game.hints)


@every
def test_its_title_shows_when_it_is_solved_and_not_before(game):
    solved = score().data["nodes"][game.number - 1]["name"]
    assert solved == str(game.number) and game.title not in game.text()
    for _ in game.hints:
        game.hint()
    for letter in game.right:
        game.cause(letter)
    assert game.title in game.repair(*last_hint(game)).text
    assert score().data["nodes"][game.number - 1]["name"] == f"{game.number} {game.title}"


@every
def test_the_table_of_the_end_has_what_kubectl_says(game):
    end = next(cell.source for cell in NOTEBOOK.cells if cell.id == "riddles-92")
    rows = [[part.strip() for part in line.split("|")[1:-1]] for line in end.splitlines()
            if line.startswith(("| Pending", "| Inqueue"))]
    rows = [row for row in rows if str(game.number) in re.findall(r"\d+", row[-1])]
    said = game.kubectl(f"describe podgroup {game.asks}")
    assert len(rows) == 1 and f"phase: {rows[0][0]}" in said
    words = rows[0][1].strip("`")
    assert words in " ".join(said.split()) if "`" in rows[0][1] else "nodes are" not in said


@every
def test_each_part_of_the_repair_is_needed(game):
    repair = last_hint(game)
    for letter in game.right:
        game.cause(letter)
    for number in range(len(repair)):
        assert game.repair(*repair[:number], *repair[number + 1:]).state != WELL_DONE


@every
def test_it_has_as_many_causes_as_are_said_and_reasons_for_the_others(game):
    assert len(game.right) == (2 if game.number >= 10 else 1)
    assert 4 <= len(game.causes) <= 5 and len(game.hints) == 3
    for times, letter in enumerate(game.options.keys() - game.right, 1):
        verdict = game.cause(letter)
        assert verdict.state == TRY_AGAIN and len(verdict.text) > 46
        assert f"−20 points: {100 - 20 * times} left" in verdict.text
        assert "points" not in game.cause(letter).text, "a cause costs once"
    assert game.taken["wrong cause"] == len(game.options) - len(game.right)


@every
def test_the_job_is_pending_and_the_lab_knows_something(game):
    assert game.kubectl.cycle.session.jobs
    assert game.why().causes and game.taken["asked"] == 1


@pytest.mark.long
@every
def test_it_is_played_in_a_terminal(game):
    lines = ["get pods", "hint", *(f"cause {letter}" for letter in sorted(game.right)),
             *last_hint(game)]
    played = CliRunner().invoke(volcano_lab, ["riddle", str(game.number)], input="\n".join(lines))
    assert played.exit_code == 0
    assert f"Riddle {game.number} is solved: {game.title}. 90 of 100 points" in " ".join(
        played.output.split())


def test_what_is_given_up_shows_a_repair():
    riddle(2).again()
    for ends in ("quit\n", ""):
        played = CliRunner().invoke(volcano_lab, ["riddle", "2"], input=ends)
        assert "Not solved. One repair: node/n2.metadata.labels[disk]=ssd" in played.output


def test_the_right_answer_is_neither_the_longest_nor_always_in_one_place():
    single = [game for game in riddles().values() if len(game.right) == 1]
    assert len({letter for game in single for letter in game.right}) >= 3
    longest = sum({max(game.options, key=lambda letter: len(game.options[letter]))} == game.right
                  for game in single)
    assert longest <= len(single) / 2


@pytest.mark.long
def test_a_change_that_cannot_be_is_not_kept_and_a_wrong_one_is_refused_with_the_reason():
    riddle(3).again()
    lines = ["queue/science.weight=9", "cause d", "set job/weather.minMember=4",
             "node/n1.unschedulable=true", "queue/science.weight=9", "reset", "remove queue shop",
             "reset", "podgroup/weather.minMember=4"]
    played = CliRunner().invoke(volcano_lab, ["riddle", "3"], input="\n".join(lines)).output
    assert "Not changed: Name every cause first" in played and played.count("Not changed: ") == 3
    assert '"node/n1.unschedulable=true" is not allowed in this riddle' in played
    assert "allowed are changes of job or queue" in played
    assert "With queue/science.weight=9:" in played and "no single node has enough" in " ".join(
        played.split())
    assert "With remove queue/shop:" in played and "weather: 4 of 5 pods get a node." in played
    riddle(3).again()


def test_no_repair_is_run_before_all_causes_are_named():
    game = riddle(11)
    game.again()
    one, other = sorted(game.right)
    for count, letter in enumerate((one, other)):
        assert {game.repair(change).text for change in (
            "node/n1.unschedulable=true", "conf/actions=allocate, reclaim", "nonsense")} == {
            f"Name every cause first ({count} of 2 named); then your repair is run."}
        game.cause(letter)
    assert game.repair("node/n1.unschedulable=true").text.endswith(
        "allowed are changes of conf, plugin, queue or job.")
    assert "allowed are conf/actions=" in game.repair("conf/tiers=gang").text
    game.again()


@pytest.mark.long
def test_a_change_of_no_object_names_the_form_that_is_allowed():
    game = named(1)
    assert "queue/a.capability[cpu]=8" in game.repair("capability=24").text
    assert "such as {cpu: 8}" in game.repair("queue/vision.capability=24").text
    assert game.repair("queue/vision.capability={cpu: 24}").state == WELL_DONE
    assert named(2).repair("node/n2.labels[disk]=ssd").state == WELL_DONE
    for number in (1, 2):
        riddle(number).again()


@pytest.mark.long
def test_the_job_keeps_the_minimum_that_its_team_asks_for():
    """With a minimum of one pod the job is admitted; no team of riddle 4 agreed to that."""
    said = named(4).repair("job/report.minAvailable=1")
    assert said.state == TRY_AGAIN and "could start with 1 of its 3 pods" in said.text
    assert "no fewer than 4" in named(9).repair("job/allreduce.minAvailable=3").text
    assert named(3).repair("job/weather.minAvailable=3").state == TRY_AGAIN
    assert named(3).repair("job/weather.minAvailable=4").state == WELL_DONE, "its story allows it"
    for number in (3, 4, 9):
        riddle(number).again()


@pytest.mark.long
def test_the_cheapest_repair_counts_whenever_it_is_found():
    game = named(1)
    large, both = "queue/vision.capability[cpu]=24", ("queue/vision.capability[cpu]=14",
                                                       "queue/speech.weight=2")
    assert game.repair(*both).state == WELL_DONE and game.points == 90
    assert f"It is cheaper than `{both[0]}` and `{both[1]}`." in game.repair(large).text
    assert game.points == 100
    assert f"It works, too; `{large}` is cheaper." in game.repair(*both).text
    assert game.points == 100
    assert f"costs as much as `{large}`" in game.repair(both[0]).text
    assert game.repair(...).text == game.repair(large).text and "works" not in game.repair(...).text
    game.again()
    assert game.repair(...).state == TO_DO
    riddle(11).again()
    game = named(11)
    actions = "conf/actions=allocate, reclaim"
    assert game.repair(actions, "job/crunch.minAvailable=1").state == WELL_DONE
    assert game.repaired[0] == [2, 4, 3]
    game.again()


@pytest.mark.long
def test_of_two_repairs_that_cost_the_same_the_narrower_counts():
    """A plugin's switch is for every job, a minimum for one; a taint is for every pod."""
    actions = "conf/actions=allocate, reclaim"
    wide = named(11).repair(actions, "plugin/gang.enableReclaimable=false").text
    assert "Besides counter, it reaches every job of the cluster." in wide
    narrow = riddle(11).repair(actions, "job/crunch.minAvailable=12").text
    assert "it reaches every job of the cluster and job crunch." in narrow
    assert f"It is as cheap as `{actions}` and `plugin/gang.enable" in narrow
    capability = "queue/serving.capability[nvidia.com/gpu]=2"
    *_, tolerations = last_hint(named(10))
    assert riddle(10).repair(capability, tolerations).state == WELL_DONE
    wide = riddle(10).repair(capability, "node/n3.taints=[]").text
    assert "all jobs of queue serving and every pod that may use node n3." in wide
    assert f"`{tolerations}` is as cheap, and reaches less." in wide
    assert "reaches" not in named(3).repair("job/weather.minAvailable=4").text
    for number in (3, 10, 11):
        riddle(number).again()


def test_an_opened_riddle_shows_what_was_answered(capsys):
    game = named(1)
    game.again()
    wrong = [text for text in game.causes if not game.causes[text].startswith("right: ")]
    assert game.open().verdict is None
    first = game.open()
    for text in wrong[:2]:
        first.say(text)
    marks = [mark for _, _, mark in first._state()["options"]]
    assert marks == [mark for _, _, mark in game.open()._state()["options"]]
    assert marks.count("wrong") == 2 and not game.open().settled
    assert game.points == 60, "what is shown again costs nothing"
    first.say(game.options[min(game.right)])
    game.repair(*last_hint(game))
    again = game.open()
    assert again.settled and "Riddle 1 is solved" in again.verdict.text and game.points == 60
    game.again()


@pytest.mark.long
def test_a_try_says_what_stops_the_job_now(capsys):
    game = riddle(10)
    game.what_if("node/n3.taints=[]")
    assert "infer waits for the same reason as before." in capsys.readouterr().out
    game.what_if("queue/serving.capability[nvidia.com/gpu]=2")
    assert "infer waits for a new reason: " in (said := capsys.readouterr().out)
    assert "untolerated taint" in " ".join(said.split()) and game.points == 100
    game.what_if("queue/serving.capability[nvidia.com/gpu]=2", "node/n3.taints=[]")
    assert "waits" not in capsys.readouterr().out


def test_what_may_be_changed_is_said_before_a_change():
    riddle(12).again()
    assert riddle(12).repair(...).text.endswith("Allowed are changes of queue, node or job.")


def test_a_repair_says_what_it_takes_on_a_real_cluster_and_hints_are_free_then():
    game = named(5)
    repair = last_hint(game)
    said = game.repair(*repair).text.split("\n\n")
    assert said[0] == "incident: 2 of 2 pods get a node. batch: 2 of 16 pods are evicted first."
    assert said[1].startswith("The same on a real cluster: `kubectl edit configmap")
    assert said[1].endswith('. In the configuration: `actions: "allocate, preempt, backfill"`.')
    assert said[2] == "Besides incident, it reaches every job of the cluster."
    assert said[3].startswith("**Riddle 5 is solved")
    assert game.hint().text and game.points == 100
    game.again()


def test_a_change_is_tried_for_nothing():
    after = riddle(4).what_if("podgroup/report.minResources[cpu]=6", "queue/finance.weight=2")
    assert after.holds("report", "placed") and riddle(4).points == 100


@pytest.mark.parametrize("change", ["pg/crunch.minMember=8", "job/crunch.minAvailable=8"])
def test_a_minimum_is_set_at_the_job_or_its_podgroup(change):
    said = named(11).repair("conf/actions=allocate, reclaim", change)
    assert said.state == WELL_DONE and "crunch: 4 of 16 pods are evicted first." in said.text
    riddle(11).again()


def test_a_repair_is_shown_as_kubectl_has_it():
    said = named(12).repair(*last_hint(riddle(12))).text
    assert "`kubectl delete podgroup pipeline-7 -n default` && `kubectl uncordon n3`" in said
    riddle(12).again()


def test_a_change_too_many_costs_and_a_wrong_one_is_a_sentence():
    game = riddle(1)
    game.again()
    assert game.repair(...).state == TO_DO
    game.cause(*game.right)
    for wrong in ("queue/visoin.weight=2", "queue/vision.wieght=2", "nonsense", "pod/label-0.x=1",
                  "node/n1.allocatable[cpu]=64", "queue/vision.weight=[1"):
        verdict = game.repair(wrong)
        assert verdict.state == TRY_AGAIN and len(verdict.text) < 300
    assert game.repair("queue/vision.capability[cpu]=14", "queue/speech.weight=2"
                       ).state == WELL_DONE
    assert game.cause("z").state == TRY_AGAIN
    assert game.points == 90
    shown = score()
    assert [(node["name"], node["note"]) for node in shown.data["nodes"] if node["pods"]] == [
        ("1 The quota", "90")]
    assert shown.title == "90 of 1200 points" and "1 of 12 jobs are at work." in shown.alt
    game.again()


@pytest.mark.long
def test_all_twelve_at_work():
    games = [named(number) for number in NUMBERS]
    for found in games:
        found.repair(*last_hint(found))
    shown, points = score(), [found.points for found in games]
    assert "the cluster is yours" in shown.alt and "of 12 jobs" not in shown.alt
    assert points == [100] * 12 and shown.svg.count(">100<") == 12, "no title is in the way"
    for found in games:
        found.again()


def test_the_question_on_the_page_is_graded_like_the_dialogue(capsys):
    game = riddle(10)
    game.again()
    question = game.open("get queues")
    shown = capsys.readouterr().out
    assert shown.index("$ kubectl describe podgroup infer") < shown.index("$ kubectl get queues")
    assert "It has two causes" in question.question and "$ kubectl get" in shown
    assert question._state()["closed"] == "Name the cause" and "/" not in repr(question)
    assert "<details" in question._repr_html_().partition("<li>")[0], "the choices are in a fold"
    assert shown.index(game.text().splitlines()[2][:40]) < shown.index("$ kubectl")
    first, second = (text for text in game.causes if game.causes[text].startswith("right: "))
    assert question.say(first).text.endswith("There is another cause.")
    assert question.verdict.state == RIGHT and not question.settled
    assert question.say(second).state == WELL_DONE and game.named == game.right
    assert question.settled
    marks = {option: mark for option, _, mark in question._state()["options"] if mark}
    assert marks == {first: "right", second: "right"}
    game.again()


@pytest.mark.long
def test_kubectl_prints_what_there_is_and_says_what_it_knows():
    shell = Kubectl(riddle(12).cluster)
    assert "forecast" in shell("kubectl get podgroups")
    assert "unschedulable: true" in shell("get node n3 -o yaml")
    assert "kubernetes.io/hostname=n3" in shell("get nodes --show-labels")
    assert "<none>" in shell("get queues --show-labels")
    assert "insufficient cpu" in shell("describe podgroup forecast")
    assert "n1" in shell("get node n1") and "capacity" in shell("get configmap")
    assert "forecast" not in shell("get pods"), "the job controller waits for the admission"
    assert shell("describe pod orders").count("Name: orders-") == 7
    assert shell("describe pod orders").count("phase: Running") == 7
    assert shell("describe pod orders-1").count("phase: Running") == 1
    assert all("forecast" in line for line in shell("logs forecast").splitlines())
    assert shell("logs nothing") == "no line of the log names nothing"
    assert shell("get priorityclasses") == "No resources found"
    assert repr(shell("get nodes")) == str(shell("get nodes")), "as it is printed"
    assert shell("describe pods").count("Name: orders-") == 7
    assert [line.split()[0] for line in shell("get nodes").splitlines()] == [
        "NAME", "n1", "n2", "n3"], "by name, as the API server lists them"
    assert shell("get podgroup/pipeline-7 -o wide") == shell("get pg pipeline-7 -n default")
    assert "27" not in shell("get events -n default") != shell("get events -n kube-system")
    assert "n3    Ready,SchedulingDisabled" in shell("get nodes") and "VALUE" in riddle(5).kubectl(
        "get priorityclasses") and riddle(5).kubectl("get pc urgent").split()[4:6] == [
        "urgent", "1000"]
    assert shell("get nodes -n kube-system") == shell("get nodes -A"), "nodes have no namespace"
    assert shell("get queue plant -oyaml") == shell("get queue plant -o yaml")
    assert shell("get cm -n volcano-system volcano-scheduler-configmap") == shell("get configmap")
    assert max(map(len, shell("get events").splitlines())) <= WIDTH
    assert "orders-0" in shell("get pod") and shell(...).startswith("commands are get KIND")
    assert shell("logs -n volcano-system deploy/volcano-scheduler") == "\n".join(shell.lines)
    assert shell("-n default get pg") == shell("kubectl get --namespace=default pg")
    assert "cpu 8        cpu 0" in riddle(5).kubectl("get nodes"), "none idle is an amount, too"
    assert shell("get events -n team") == "No resources found in team namespace."
    for wrong, said in {
            "top nodes": "is not printed here; commands are", "get nodes --watch": "commands are",
            "get frogs": 'error: the server doesn\'t have a resource type "frogs"',
            "describe pod nobody": 'Error from server (NotFound): pod "nobody" not found'}.items():
        assert said in shell(wrong), "as kubectl says it, and no exception"


@pytest.mark.parametrize("words", [
    ("vcjob", "vcjobs", "vj", "job", "jobs", "Jobs", "jobs.batch.volcano.sh"),
    ("podgroup", "podgroups", "pg", "podgroups.scheduling.volcano.sh"),
    ("queue", "queues", "q", "queues.scheduling.volcano.sh"), ("node", "nodes", "no"),
    ("pod", "pods", "po"), ("event", "events", "ev"), ("configmap", "configmaps", "cm")])
def test_a_kind_has_the_names_that_the_api_server_accepts(words):
    shell = riddle(3).kubectl
    assert len({shell(f"get {word}") for word in words}) == 1
    assert "error" not in shell(f"get {words[0]}")


def test_the_jobs_of_volcano_are_listed_and_described():
    shell = riddle(3).kubectl
    assert shell("get vcjob/weather").splitlines()[1].split() == ["weather", "Pending", "5", "3d",
                                                                 "science"]
    assert "minAvailable: 5" in shell("describe vcjob weather")


@pytest.mark.parametrize(("number", "changes", "said"), [
    (3, ["podgroup/weather.minMember=4"], "`kubectl patch vcjob weather -n default"),
    (9, ["job/allreduce.networkTopology.highestTierAllowed=2"],
     "`kubectl patch podgroup allreduce"),
    (11, ["conf/actions=allocate, reclaim", "job/crunch.minAvailable=8"],
     "`kubectl patch podgroup crunch -n default"),
    (10, ["queue/serving.capability[nvidia.com/gpu]=2",
          "job/infer.tolerations=[{operator: Exists}]"],
     "`kubectl replace --force -f infer.yaml`. The file is the job's manifest with the change: "),
    (10, ["queue/serving.capability[nvidia.com/gpu]=2",
          "job/infer.tolerations=[{key: nvidia.com/gpu, operator: Exists}]"],
     "`kubectl replace --force -f infer.yaml`")])
def test_a_repair_of_a_job_is_the_command_that_has_its_effect(number, changes, said):
    verdict = named(number).repair(*changes)
    riddle(number).again()
    assert verdict.state == WELL_DONE and said in verdict.text
    assert ("--force" in said) == ("whose work is lost" in verdict.text)


@pytest.mark.long
@pytest.mark.parametrize(("number", "changes", "said"), [
    (5, ["conf/actions=preempt, allocate, backfill"], "Effect after 4 cycles: evicts 2 pods of "
     "batch; 2 of 16 pods of batch wait in queue default; 2 pods of incident are still only "
     "promised a node (pipelined), and not bound."),
    (6, ["conf/actions=reclaim, allocate", "queue/guest.reclaimable=true"],
     "default/render is evicted again and again; 4 pods of home are still only promised a node "
     "(pipelined), and not bound."),
    (8, ["queue/ml.capability[cpu]=30"], "Queue eng, above queue ml, refuses it: cpu 10 allocated "
     "+ 8 requested = 18, limit 16"),
    (11, ["conf/actions=allocate, reclaim"], "reclaim finds 16 candidates (of default/crunch), but "
     "gang allows none"),
    (7, ["queue/vault.guarantee[cpu]=12"], "did you mean spec.guarantee.resource.cpu?")])
def test_a_repair_that_fails_says_what_it_did_instead(number, changes, said):
    verdict = named(number).repair(*changes)
    riddle(number).again()
    assert verdict.state == TRY_AGAIN and said in verdict.text


@pytest.mark.long
def test_its_manifests_are_printed_for_the_other_commands(tmp_path):
    printed = CliRunner().invoke(volcano_lab, ["riddle", "8", "-o", "yaml"])
    file = tmp_path / "cluster.yaml"
    file.write_text(printed.output, encoding="utf-8")
    asked = CliRunner().invoke(volcano_lab, ["why", str(file), "tune", "--no-remedies"])
    assert "Queue eng, above queue ml" in asked.output
    assert CliRunner().invoke(volcano_lab, ["riddle", "--output", "yaml", "99"]).exit_code != 0
