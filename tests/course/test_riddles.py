"""The riddles: each can be solved by its hints, none by the first thing one tries."""

import pytest
from click.testing import CliRunner

from course.answers.riddles import last_hint
from volcano_lab.cli.grammar import volcano_lab
from volcano_lab.course.kit.verdict import RIGHT, TO_DO, TRY_AGAIN, WELL_DONE
from volcano_lab.course.riddles import Kubectl, riddle, riddles, score
from volcano_lab.manifests.loader import ManifestError

NUMBERS = tuple(riddles())
FIRST_GUESS = {
    1: ["queue/vision.weight=9"], 2: ["queue/search.weight=9"], 3: ["queue/science.weight=9"],
    4: ["queue/finance.weight=9"], 5: ["queue/default.weight=9"], 6: ["queue/owner.weight=9"],
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


@every
def test_the_first_guess_does_not_solve_it(game):
    game.cause(min(game.right))
    assert game.repair(*FIRST_GUESS[game.number]).state == TRY_AGAIN
    assert not game.repaired


@every
def test_its_hints_solve_it_with_the_fewest_changes(game):
    for _ in game.hints:
        game.hint()
    repair = last_hint(game)
    assert len(repair) == game.smallest
    assert "Name a cause first" in game.repair(*repair).text and not game.repaired
    *others, last = sorted(game.right)
    assert [game.cause(letter).state for letter in others] == [RIGHT] * len(others)
    assert game.cause(last).state == WELL_DONE
    assert game.repair(*repair).state == WELL_DONE
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
def test_each_part_of_the_repair_is_needed(game):
    repair = last_hint(game)
    game.cause(min(game.right))
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


@every
def test_it_is_played_in_a_terminal(game):
    lines = ["get pods", "hint", *(f"cause {letter}" for letter in sorted(game.right)),
             *last_hint(game)]
    played = CliRunner().invoke(volcano_lab, ["riddle", str(game.number)], input="\n".join(lines))
    assert played.exit_code == 0
    assert f"{game.title}: riddle {game.number} is solved, 90 of 100 points" in played.output


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


def test_a_change_that_cannot_be_is_not_kept_and_a_wrong_one_is_told_why():
    riddle(3).again()
    lines = ["queue/science.weight=9", "cause d", "set job/weather.minMember=4",
             "node/n1.unschedulable=true", "queue/science.weight=9", "reset", "remove queue shop",
             "reset", "podgroup/weather.minMember=4"]
    played = CliRunner().invoke(volcano_lab, ["riddle", "3"], input="\n".join(lines)).output
    assert "Not changed: Name a cause first" in played and played.count("Not changed: ") == 3
    assert "begins with job/, podgroup/, queue/" in played
    assert "With queue/science.weight=9:" in played and "4 Insufficient cpu" in played
    assert "With remove queue/shop:" in played and "weather: 4 of 5 pods get a node." in played
    riddle(3).again()


def test_a_refused_repair_shows_no_kinds_before_all_causes_are_named():
    game = riddle(11)
    game.again()
    refused = "node/n1.unschedulable=true"
    assert game.repair(refused).text == game.repair("conf/actions=allocate, reclaim").text
    one, other = sorted(game.right)
    game.cause(one)
    assert game.repair(refused).text.endswith("name the other cause first.")
    game.cause(other)
    allowed = "conf/actions=, plugin/, queue/, job/, podgroup/"
    assert game.repair(refused).text.endswith(f"begins with {allowed}.")
    assert "allowed are conf/actions=" in game.repair("conf/tiers=gang").text
    game.again()


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


def test_the_question_on_the_page_is_graded_like_the_dialogue(capsys):
    game = riddle(10)
    game.again()
    question = game.open()
    shown = capsys.readouterr().out
    assert "It has two causes" in question.question and "$ kubectl get" in shown
    assert shown.index(game.text().splitlines()[2][:40]) < shown.index("$ kubectl")
    first, second = (text for text in game.causes if game.causes[text].startswith("right: "))
    assert question.say(first).text.endswith("There is another cause.")
    assert question.verdict.state == RIGHT and not question.settled
    assert question.say(second).state == WELL_DONE and game.named == game.right
    assert question.settled
    marks = {option: mark for option, _, mark in question._state()["options"] if mark}
    assert marks == {first: "right", second: "right"}
    game.again()


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
    assert shell("get priorityclasses") == "No resources found."
    for wrong in ("top nodes", "get frogs", "describe pod nobody", "get pod"):
        if wrong == "get pod":
            assert "orders-0" in shell(wrong)
        else:
            with pytest.raises(ManifestError):
                shell(wrong)


def test_its_manifests_are_printed_for_the_other_commands(tmp_path):
    printed = CliRunner().invoke(volcano_lab, ["riddle", "8", "-o", "yaml"])
    file = tmp_path / "cluster.yaml"
    file.write_text(printed.output, encoding="utf-8")
    asked = CliRunner().invoke(volcano_lab, ["why", str(file), "tune", "--no-remedies"])
    assert "Queue eng, above queue ml" in asked.output
    assert CliRunner().invoke(volcano_lab, ["riddle", "--output", "yaml", "99"]).exit_code != 0
