"""What lesson 04, "Who is admitted: limits, and the sum of admission", says is so."""

from course.proofs import after


@after("a006")
def what_a_queue_may_hold(team):
    assert team["real capability"] == 12 and 20 - 6 == 14
    assert team["guarantee"] <= team["deserved"] <= team["real capability"]


@after("a006")
def what_a_queue_may_hold_3(free, kept):
    assert (len(kept.committed), len(free.committed)) == (14, 20)


@after("a014")
def not_written_and_zero(limits):
    assert limits["cpu: 0"]["cpu"] == 16 and "nvidia.com/gpu" not in limits["nvidia.com/gpu: 0"]


@after("a018")
def the_sum(compared):
    assert compared["sum"].tolist() == [8, 13] and compared["inqueue"].tolist() == [0, 4]


@after("a031")
def resource_by_resource(phases):
    assert (phases["first"], phases["second"]) == ("Pending", "Inqueue")


@after("a035")
def resource_by_resource_2(sums, wide):
    refused = [row for row in sums(wide) if row["over"]]
    assert len(refused) == 1 and refused[0]["who"] == "cluster"
    assert (refused[0]["job"], refused[0]["resource"]) == ("second", "memory")
    assert (refused[0]["sum"], refused[0]["limit"]) == (44, 42)


@after("a035")
def the_other_door_overcommit(found):
    assert found == {1.0: 14, 1.2: 18, 1.5: 24, 0.5: 18}


@after("a038")
def who_is_asked_and_who_is_not(MOVED, seen, tight):
    assert seen["plugin"].tolist() == ["overcommit"]
    assert tight.run(MOVED).jobs()[0]["phase"] == "Inqueue"


@after("a050")
def answers_of_the_lab(lab):
    def job(name, **sliders):
        return next(row for row in lab.reset().set(**sliders).board["jobs"] if row["job"] == name)

    def waits(**sliders):
        return job("second", **sliders)["PodGroup"] == "Pending"

    assert max(n for n in range(7) if not waits(needs=n)) == 3
    assert min(k for k in range(21) if waits(capability=0, kept=k)) == 8
    open_end = job("second", capability=0)
    assert lab.board["sums"][-2]["text"] == "13 of 14"
    assert (open_end["PodGroup"], open_end["placed"]) == ("Inqueue", 0)
    both = [job(name, runs=10, needs=1) for name in ("first", "second")]
    assert [(row["PodGroup"], row["placed"]) for row in both] == [("Inqueue", 0)] * 2
    crowded = [job("second", runs=16, factor=factor)["why"] for factor in (1.2, 1.3)]
    assert crowded == ["not admitted; the cluster: 9 of 8 CPUs",
                       "not admitted; queue team: 13 of 12 CPUs"]
    lab.reset()


@after("a060")
def admitted_is_not_placed(checks):
    team = next(row for row in checks.patients()["one"].run().queues() if row["queue"] == "team")
    assert team["real_capability"]["cpu"] == 6
