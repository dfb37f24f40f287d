"""The grammar of `volcano-lab`: commands, options, examples.

The only source of `--help`, of the manual page and of the documentation's page about the command.
"""

import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import reduce, wraps
from importlib import import_module
from types import ModuleType
from typing import Any

import click

from volcano_lab import __version__
from volcano_lab.cli import DONE, Mistake
from volcano_lab.cli.help import VARIABLE, Command, of_environment
from volcano_lab.cli.language import language, speak_first

FORMS = ("table", "wide", "json", "yaml", "name")
SECTIONS = {"Ask": ("run", "why", "lint"), "Try": ("what-if", "diff", "sweep", "simulate"),
            "Bring in and hand on": ("capture", "export"), "Keep running": ("serve",),
            "Learn": ("lab", "riddle", "site"), "Other": ("replay", "completion", "help",
                                                          "version")}


class Commands(Command, click.Group):
    """Commands by section, in the usual order of use. Each accepts `--lang`, before its name or
    after it.
    """

    command_class = Command

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command that answers in the language of the environment, or in the given one; it
        has the group's names for `--help` also when it is called alone.
        """
        cmd.context_settings = {**self.context_settings, **cmd.context_settings}
        language("en or zh, the language of the answer.")(cmd)
        super().add_command(cmd, name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line, in its language."""
        ctx.meta[VARIABLE] = speak_first(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the named command; a reader that closes the output early, such as `head`, is no
        error.
        """
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
            return code
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return DONE

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a list for each section."""
        for section, names in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(limit=68))
                                    for name in names])


def named(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Return the completions of a word by the names in the command's files."""
    found: list[Any] = loaded("cli.completion").completions(param.name or "", incomplete)
    return found


def options(*added: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator that adds several arguments and options to a command, in order."""
    return lambda function: reduce(lambda command, add: add(command), reversed(added), function)


FILE = click.Path()
FILENAME = click.option("-f", "--filename", "filenames", metavar="FILE", multiple=True, type=FILE,
                        help="A FILE, as for kubectl.")
FILES = (click.argument("files", metavar="[FILE]...", nargs=-1, type=FILE), FILENAME)
CONTEXT = click.option("--context", metavar="NAME", help="Without FILE: the cluster that this "
                       "context of kubectl names.  [default: the current one]")
OVER_TIME = (
    click.option("--until", metavar="TIME", help="Until when: seconds, 90s, 10m, 2h or 1d.  "
                 "[default: until nothing happens any more]"),
    click.option("--arrivals", metavar="WHAT", help="When jobs arrive: created (their "
                 "creationTimestamp), a rate such as 30/h of jobs like those that wait, or the "
                 "file of a trace (.csv, .jsonl, .swf).  [default: created]"),
    click.option("--duration", metavar="TIME", help="How long a job runs without an annotation "
                 "volcano-lab/run-time: 10m, exponential:10m, uniform:1m..5m.  [default: for "
                 "ever]"),
    click.option("--failures", metavar="TIME[,TIME]", help="Mean time between two failures of a "
                 "node, and until it is ready again."),
    click.option("--period", metavar="TIME", help="Between two cycles.  [default: 1s, or more "
                 "where the time is long]"),
    click.option("--seed", type=int, default=0, show_default=True, help="Of random draws."),
)
CONF = click.option("--conf", metavar="FILE", type=FILE,
                    help="A volcano-scheduler.conf or the ConfigMap of one.  [default: a ConfigMap "
                    "among the files, else Volcano's own default]")
NOW = click.option("--now", metavar="TIME",
                   help="When the cycle runs, as 13:30 or 2026-01-01T13:30Z.  [default: now]")
OUTPUT = click.option("-o", "--output", type=click.Choice(FORMS), default="table", metavar="FORM",
                      help="table, wide (all columns), json, yaml or name.")
NAMESPACE = (click.option("-n", "--namespace", metavar="NS", default="", shell_complete=named,
                          help="Only jobs of this namespace; names without one are in it."),
             click.option("-A", "--all-namespaces", "everywhere", is_flag=True,
                          help="Jobs of all namespaces, which is the default."))
LOG = click.option("--log", type=click.Choice(["volcano"]), hidden=True, expose_value=False)
"""Accepted by scripts of 1.0, where there were other lines, too."""
RECURSIVE = click.option("-R", "--recursive", is_flag=True,
                         help="Read the folders in a folder, too.")


class Cycles(click.ParamType):
    """A number of cycles, or `rest` for as many as are needed."""

    name = "cycles"

    def convert(self, value: Any, *_: Any) -> int:
        """Return the maximum number of cycles."""
        if value == "rest":
            return 10
        if not (str(value).isdigit() and 0 < int(value) <= 10_000):
            raise Mistake("--cycles is {value}; allowed are rest and a whole number from 1 to "
                          "10,000", value=value)
        return int(value)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
@language("en or zh, the language of all answers.  [default: $VOLCANO_LAB_LANG, else that of "
          "$LANG, else en]", envvar=VARIABLE, default=of_environment)
def volcano_lab() -> None:
    """Volcano's scheduler as a laboratory: decides as Volcano v1.14.0 does, and says why.

    FILE is a manifest in YAML or JSON (.gz too), a folder, a pattern, or - for the input; what
    kubectl get -o yaml prints is read as it comes. Without FILE, kubectl reads the live cluster.

    \b
    Exit codes:
      0    done, also where jobs wait
      1    found: an error (lint), a difference (diff), a failure (sweep, replay),
           something missing (capture), a job that waits (--fail-on-pending) or
           is not as expected (--expect)
      2    something has to be fixed; a sentence says what
      130  ended by Ctrl-C

    \b
    Examples:
      volcano-lab run cluster.yaml
      volcano-lab why cluster.yaml train
      kubectl volcano-lab why train -n team

    NO_COLOR=1 prints without colours.
    """


def loaded(module: str) -> ModuleType:
    """Return the module of a command, by its name in the package; enable garbage collection, which
    `main` has disabled while modules load. Objects of the modules stay, and are not collected.
    """
    found = import_module(f"volcano_lab.{module}")
    gc.freeze()
    gc.enable()
    return found


def _check_everywhere(given: dict[str, Any]) -> None:
    if given.pop("everywhere", False) and given["namespace"]:
        raise Mistake("-A is given with -n; allowed is one of them")


def command(home: str, *added: Callable[[Any], Any], name: str | None = None
            ) -> Callable[[Callable[[], None]], click.Command]:
    """Declare a command; the function of the same name in the module `home` is loaded when it runs.
    """
    def declare(declared: Callable[[], None]) -> click.Command:
        @wraps(declared)
        def run(**given: Any) -> int:
            if "filenames" in given:
                given["files"] += given.pop("filenames")
            _check_everywhere(given)
            return getattr(loaded(f"cli.{home}"), declared.__name__)(**given)

        return volcano_lab.command(name)(options(*added)(run))

    return declare


@command("run", *FILES, CONF, OUTPUT, *NAMESPACE, NOW, RECURSIVE, CONTEXT)
@click.option("--cycles", type=Cycles(), default="1", metavar="N|rest", show_default=True,
              help="Run up to N cycles, until no pods of admitted jobs are left to be created "
              "(rest: up to 10).")
@click.option("--fail-on-pending", is_flag=True, help="Exit with 1 where a job waits, also for "
              "pods that are not created yet.")
@click.option("-w", "--watch", "keep", is_flag=True, help="Run again whenever a file changes.")
@click.option("-v", "--verbosity", type=click.IntRange(0, 5), default=0, metavar="LEVEL",
              help="Print the lines that Volcano logs of the last cycle, up to this level, 2 to 4.")
@LOG
def run() -> None:
    """One cycle: jobs, what waits and why, placements, queues.

    The members of a gang whose pods are not created yet count as pending.

    \b
    Examples:
      volcano-lab run cluster.yaml --conf volcano-scheduler.conf
      kubectl get nodes,pods,queues,podgroups -A -o yaml | volcano-lab run -
      volcano-lab run manifests/ -n team -o wide
      volcano-lab run cluster.yaml --fail-on-pending -o json
      volcano-lab run cluster.yaml -v 4
    """


@volcano_lab.command()
@click.argument("words", metavar="[FILE]... NAME", nargs=-1, type=FILE, shell_complete=named)
@click.option("--node", metavar="NODE", shell_complete=named,
              help="Why the pod NAME, or the job's first pod that waits, is not on this node.")
@click.option("--before", metavar="JOB", shell_complete=named,
              help="Why this job is served before or after the job NAME, and the place of NAME in "
              "its queue.")
@click.option("--evict", is_flag=True,
              help="Who may evict pods of the job NAME, and under which conditions.")
@click.option("--all", "every", is_flag=True, help="All jobs that wait, by cause; without NAME.")
@click.option("--seconds", type=click.FloatRange(0, 86400), default=10.0, metavar="N",
              help="How long changes are tried.  [default: 10]")
@click.option("--no-remedies", is_flag=True, help="The cause alone, at once.")
@click.option("--cycle", type=click.IntRange(1, 100_000), metavar="N",
              help="At the end of cycle N of a simulation of the FILEs (one cycle a second), or of "
              "a recording; with the job's history until then.")
@click.option("--life", metavar="EVENTS", type=FILE,
              help="What changed before each cycle, beginning with the FILEs (see replay --life); "
              "without --cycle, its last one.")
@options(FILENAME, CONF, OUTPUT, *NAMESPACE, NOW, CONTEXT)
def why(words: tuple[str, ...], filenames: tuple[str, ...], every: bool, no_remedies: bool,
        **given: Any) -> int:
    """Why a job, pod or queue is as it is, and what would change it.

    NAME is that of a job, a pod (NAMESPACE/NAME), a queue or, as node/NAME, a node, as a rule the
    last word; without FILE it is one of the live cluster. In a simulation pods run for ever, and
    evicted pods are created again; for a loop of evictions, the change that ends it is shown.

    \b
    Examples:
      volcano-lab why cluster.yaml train
      volcano-lab why train -n team --context prod
      volcano-lab why cluster.yaml --all --no-remedies
      volcano-lab why manifests/ team/train-0 --node n1
      volcano-lab why cluster.yaml train --before report
      volcano-lab why cluster.yaml train --evict
      volcano-lab why cluster.yaml train --cycle 20
      volcano-lab why start.yaml train --life recording.yaml
      kubectl get no,pods,queues,pg,vcjob,pc -A -o yaml | volcano-lab why - train
    """
    if given["seconds"] != given["seconds"]:  # click's range accepts NaN
        raise Mistake("--seconds is nan; allowed is a number from 0 to 86400")
    given["seconds"] = 0.0 if no_remedies else given["seconds"]
    asked = [f"--{name}" for name in ("node", "before", "evict") if given[name]]
    if len(asked) > 1:
        raise Mistake("why is given {one} and {other}; allowed is one of them", one=asked[0],
                      other=asked[1])
    if given["now"] and (given["cycle"] or given["life"]):
        raise Mistake("why is given --now with --cycle or --life; allowed is --now for one cycle "
                      "alone")
    _check_everywhere(given)
    ask = loaded("cli.why").why
    if every:
        return ask(words + filenames, None, **given)
    if not words or (len(words) == 1 and not filenames and os.path.exists(words[0])):
        raise Mistake("why is given no name; allowed are files, and then the name of a job, pod or "
                      "queue, or --all instead of a name")
    *files, name = words
    if files and os.path.exists(name) and not os.path.exists(files[0]):  # as kubectl describe
        name, *files = words
    return ask([*files, *filenames], name, **given)


@command("lint", *FILES, CONF, OUTPUT, RECURSIVE, CONTEXT)
def lint() -> None:
    """What cannot work, cancels itself or has no effect.

    What Volcano's webhooks would refuse, gangs that can never start, guarantees above the cluster,
    queues that no job can use, switches that cancel each other, fields that nothing reads. The exit
    code is 1 where one of them is an error.

    \b
    Examples:
      volcano-lab lint cluster.yaml --conf volcano-scheduler.conf
      volcano-lab lint -R manifests/ -o json
    """


@command("compare", *FILES, name="what-if")
@click.option("--set", "settings", metavar="KIND/NAME.FIELD=VALUE", multiple=True,
              shell_complete=named,
              help="Set a field, an argument or a switch of a plugin (plugin/NAME.ARGUMENT=VALUE), "
              "or conf/actions=NAMES.")
@click.option("--add", metavar="FILE", multiple=True, type=FILE, help="Add manifests.")
@click.option("--remove", metavar="KIND/NAME", multiple=True, shell_complete=named,
              help="Remove an object, and the objects that it created; with a node its pods, "
              "which their controllers create again.")
@click.option("--conf", metavar="FILE", type=FILE,
              help="The configuration of the cluster; without any other change, or with "
              "--base-conf, the one to try instead.")
@click.option("--base-conf", metavar="FILE", type=FILE,
              help="The configuration before.  [default: a ConfigMap among the files, else "
              "Volcano's own default]")
@click.option("--expect", metavar="[NAME=]placed", multiple=True,
              help="Exit with 1 unless the added jobs, or the job NAME, are placed, admitted or "
              "pending then.")
@options(OUTPUT, NOW, RECURSIVE, CONTEXT)
def what_if() -> None:
    """What a change would change, before and after.

    Which pods are placed or evicted, which jobs wait; what queues deserve and hold. Only the copy
    in memory is changed. A Job's name stands for its PodGroup where the files have no Job.

    \b
    Examples:
      volcano-lab what-if cluster.yaml --set queue/a.weight=5
      volcano-lab what-if all.yaml --set queue/a.capability[nvidia.com/gpu]=8
      volcano-lab what-if all.yaml --set deployment/web.replicas=6 --remove no/n1
      volcano-lab what-if all.yaml --add job.yaml --remove job/team/train
      volcano-lab what-if all.yaml --base-conf old.conf --conf new.conf -o wide
      volcano-lab what-if cluster.yaml --set plugin/overcommit.overcommit-factor=2
      volcano-lab what-if cluster.yaml --add job.yaml --expect placed
    """


@command("compare")
@click.argument("a", type=FILE)
@click.argument("b", type=FILE)
@options(CONF, OUTPUT, NOW, RECURSIVE)
def diff() -> None:
    """How the cycles of two exports differ.

    The exit code is 1 where they differ, as that of kubectl diff.

    \b
    Examples:
      volcano-lab diff yesterday.yaml today.yaml
      volcano-lab diff before/ after/ --conf volcano-scheduler.conf -o json
    """


@command("sweep", *FILES)
@click.option("--grid", metavar="NAME=VALUES", multiple=True, required=True, shell_complete=named,
              help="KIND/NAME.FIELD, plugin/NAME.ARGUMENT or conf (files), and its values: "
              "1,2,5 or 1..9.")
@click.option("--metric", "metrics", metavar="METRIC", multiple=True,
              help="placed, pending, jobs_waiting, allocated, evicted, promised, queue/NAME"
              ".FIELD.RESOURCE or job/[NAMESPACE/]NAME.FIELD; over time waiting_p95, used_cpu, "
              "queue/NAME.waiting_median.  [default: placed, pending]")
@click.option("--workers", type=click.IntRange(1, 1024), default=1, show_default=True,
              help="Processes; the results are the same with any number.")
@click.option("--scheduler", metavar="ADDRESS",
              help="A Dask scheduler, as tcp://host:8786, or local for one on this machine.")
@click.option("--results", metavar="FILE", type=FILE,
              help="Keep finished settings in this file, as JSON lines, and continue from them.")
@click.option("--plot", metavar="FILE", type=FILE,
              help="Write a chart of the first metric (.html, .svg, .png or .json).")
@options(*OVER_TIME, CONF, OUTPUT, RECURSIVE, CONTEXT)
def sweep() -> None:
    """A cycle, or some time, for every setting of a grid.

    On one core, several, or many machines. The exit code is 1 where a setting failed; results of
    the others are printed nevertheless.

    \b
    Examples:
      volcano-lab sweep all.yaml --grid queue/a.weight=1..5 --metric job/x.placed
      volcano-lab sweep all.yaml --grid queue/a.weight=1,2 --grid q/b.weight=1,2
      volcano-lab sweep all.yaml --grid conf=old.conf,new.conf --results s.jsonl
      volcano-lab sweep all.yaml --grid conf=old.conf,new.conf --arrivals jobs.swf
      volcano-lab sweep all.yaml --grid queue/a.weight=1..500 --scheduler local
    """


@command("simulate", *FILES)
@options(*OVER_TIME, CONF, OUTPUT, RECURSIVE, CONTEXT)
def simulate() -> None:
    """The jobs of a cluster over time: who waits how long.

    Placed jobs run; jobs that wait or arrive are placed, run and end. Waiting, slowdown,
    utilisation, shares of what queues deserve, evictions, broken gangs.

    \b
    Examples:
      volcano-lab simulate cluster.yaml --duration 10m
      volcano-lab simulate nodes.yaml --arrivals jobs.swf --conf new.conf
      volcano-lab simulate all.yaml --arrivals 30/h --duration 2h --until 7d
    """


@command("capture")
@click.argument("files", metavar="[FILE]...", nargs=-1, type=FILE)
@click.option("-n", "--namespace", metavar="NS", default="",
              help="Where the scheduler runs.  [default: volcano-system]")
@OUTPUT
def capture() -> None:
    """A cluster into a file, and what is missing in it.

    Without FILEs, prints the line that brings a cluster into a file; it is for a shell with
    kubectl. Secrets are not requested; environment, images and applied configurations are dropped
    when the file is read. The check says what is missing before anything is run, and its exit code
    is then 1.

    \b
    Examples:
      volcano-lab capture
      volcano-lab capture cluster.yaml
    """


@command("capture", *FILES)
@click.option("-o", "--output", "form", type=click.Choice(("yaml", "json", "case")),
              default="yaml", metavar="FORM", help="yaml and json for kubectl apply, case for "
              "replay.  [default: yaml]")
@click.option("--anonymise", is_flag=True,
              help="Replace each name by another one, the same everywhere.")
@options(CONF, RECURSIVE, CONTEXT)
def export() -> None:
    """Write a cluster as manifests, or as a case for replay.

    --anonymise replaces the names of objects, labels and taints, also in the scheduler's
    configuration; numbers, amounts and the order of names stay, and so do the decisions.

    \b
    Examples:
      volcano-lab export cluster.yaml --anonymise > to-share.yaml
      volcano-lab export cluster.yaml --conf scheduler.conf -o case > case.jsonl
    """


@volcano_lab.command()
@click.argument("directory", metavar="DIR", type=FILE)
@click.option("--conf", metavar="FILE", type=FILE,
              help="A volcano-scheduler.conf; it is watched.  [default: a ConfigMap's in DIR, or "
              "Volcano's own]")
@click.option("--period", metavar="SECONDS", type=click.FloatRange(0.01, 3600), default=1.0,
              show_default=True, help="Between two cycles.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True,
              help="A page on http://127.0.0.1:PORT/, metrics on /metrics; 0 takes any.")
@click.option("--dump-dir", metavar="DIR", type=FILE,
              help="Where SIGUSR1 writes the cache.  [default: a folder of your own]")
@click.option("-v", "--verbosity", type=click.IntRange(0, 5), default=0, metavar="LEVEL",
              help="Print the lines that Volcano logs of each cycle, up to this level, 2 to 4.")
@LOG
def serve(verbosity: int, **given: Any) -> int:
    """Cycles on a folder that is watched, a page, metrics.

    \b
    Signals:
      SIGTERM, Ctrl-C   end it, within two seconds
      SIGHUP            read all files again
      SIGUSR1           write the cache to a file
      SIGUSR2           print its nodes, jobs and HyperNodes

    \b
    Examples:
      volcano-lab serve manifests/ --conf volcano-scheduler.conf
      volcano-lab serve manifests/ --period 0.5 --port 0 -v 3
    """
    code = loaded("server.service").serve(level=verbosity, **given)
    with suppress(OSError, ValueError):  # the output is closed
        sys.stdout.flush()
    os._exit(code)  # freeing a large cluster takes longer than the exit may


@volcano_lab.command(context_settings={"ignore_unknown_options": True})
@click.argument("jupyter", metavar="[JUPYTER OPTION]...", nargs=-1, type=click.UNPROCESSED)
@click.option("--folder", metavar="DIR", type=FILE, help="Where the lessons are, or are copied to "
              "(what is there already stays).  [default: a clone, else ./volcano-lessons]")
@click.pass_context
def lab(ctx: click.Context, jupyter: tuple[str, ...], folder: str | None) -> int:
    """Open the first lesson in JupyterLab.

    \b
    Examples:
      volcano-lab lab
      volcano-lab lab --folder lessons
      volcano-lab lab --no-browser --port=8899
    """
    return loaded("cli.lab").lab(list(jupyter), folder, ctx.meta[VARIABLE])


@volcano_lab.command()
@click.argument("number", metavar="[N]", required=False, type=int)
@click.option("-o", "--output", "form", type=click.Choice(("yaml", "json")), metavar="FORM",
              help="Only print the riddle's manifests, as yaml or json.")
def riddle(number: int | None, form: str | None) -> int:
    """Why is it pending? Twelve riddles.

    A cluster as kubectl shows it, a cause to name, the smallest repair to find: a dialogue, line by
    line. Without N, the list.

    \b
    Examples:
      volcano-lab riddle
      volcano-lab riddle 1
      volcano-lab riddle 4 -o yaml > cluster.yaml
    """
    # The course is above the command: it is imported by name, as an add-on would be.
    course = loaded("course.riddles.terminal")
    try:
        for text in course.play(number) if form is None else course.manifests_of(number, form):
            click.echo(text)
    except LookupError as error:
        raise Mistake(str(error.args[0])) from None
    return DONE


@command("site")
@click.argument("folder", metavar="[DIR]", required=False, type=FILE)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS",
              help="0.0.0.0 serves other machines, too: a classroom.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True,
              help="0 takes any.")
def site() -> None:
    """Serve the course that runs in readers' browsers.

    DIR is what `make site` built.  [default: build/site] Other machines' browsers keep work and
    go on without a network where the address is https or localhost.

    \b
    Examples:
      volcano-lab site
      volcano-lab site --host 0.0.0.0 --port 8080
    """


@volcano_lab.command()
@click.argument("cases", metavar="[CASES]", required=False, type=FILE)
@click.option("--timing", is_flag=True, help="What each phase took, in place of the decisions.")
@click.option("--life", metavar="EVENTS", type=FILE,
              help="What changed before each cycle; one scheduler runs all cycles.")
@click.option("--summary", is_flag=True, help="Sums by family in a table, in place of the lines.")
def replay(cases: str | None, timing: bool, life: str | None, summary: bool) -> int:
    """The decisions on recorded cases, one JSON object per line.

    CASES is a .jsonl or .jsonl.gz file, one case per line: name, conf (the text of a
    configuration, or null), objects (manifests in the order in which the scheduler hears of them).

    EVENTS has one line per case: name, reset (true where a life begins), events. Without CASES it
    is what kubectl get -w -o json or yaml prints: an object that changes again begins the next
    cycle. With --output-watch-events it says what was deleted; without, that is only seen of pods.

    \b
    Examples:
      volcano-lab replay cases.jsonl.gz > decisions.jsonl
      volcano-lab replay cases.jsonl --timing
      volcano-lab replay cases.jsonl.gz --summary
      volcano-lab replay cases.jsonl.gz --life events.jsonl.gz
      volcano-lab replay --life recording.json
    """
    return loaded("cli.replay").replay_file(cases, timing, life, summary)


@volcano_lab.command("help")
@click.argument("name", metavar="[COMMAND]", required=False)
@click.pass_context
def help_of(ctx: click.Context, name: str | None) -> None:
    """Show the help of a command, or this list.

    \b
    Examples:
      volcano-lab help
      volcano-lab help why
    """
    named = ctx.meta.get(VARIABLE)
    words = [] if named in (None, of_environment()) else ["--lang", named]
    words += [name, "--help"] if name else ["--help"]
    volcano_lab.main(words, prog_name=ctx.find_root().info_name, standalone_mode=False)


@volcano_lab.command()
@click.pass_context
def version(ctx: click.Context) -> None:
    """Show the version.

    \b
    Examples:
      volcano-lab version
    """
    click.echo(f"{ctx.find_root().info_name} {__version__}")


@volcano_lab.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a shell's completion script, also for names in files.

    \b
    Examples:
      source <(volcano-lab completion bash)
      source <(volcano-lab completion zsh)
      volcano-lab completion fish > ~/.config/fish/completions/volcano-lab.fish
    """
    from click.shell_completion import get_completion_class

    known = get_completion_class(shell)
    assert known is not None
    name = ctx.find_root().info_name or "volcano-lab"
    variable = f"_{name.replace('-', '_').upper()}_COMPLETE"
    click.echo(known(ctx.find_root().command, {}, name, variable).source())
