"""The command `volcano-lab`: run a cycle on manifests, say why, replay recorded cases, open the
first notebook.

Exit codes: 0 done (also where jobs stay pending, or a replayed case raised: its line says so), 2
for what the user has to mend, told in a sentence, 130 after Ctrl-C. What a subcommand needs is
imported when it runs.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import volcano_lab

MISTAKE = 2


class Mistake(Exception):
    """Something the user has to mend; the text is one sentence a line."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code.

    >>> main(["run", "no-such-file.yaml"])
    2
    """
    options = _parsed(arguments)
    try:
        return options.command(options)
    except Mistake as mistake:
        for line in str(mistake).splitlines():
            print(f"volcano-lab: {line}", file=sys.stderr)
        return MISTAKE
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line; words of `why` may stand before and after its options."""
    grammar = parser()
    options, others = grammar.parse_known_args(arguments)
    if others and not (options.command is _why and all(not word.startswith("-")
                                                       for word in others)):
        grammar.error(f"unrecognized arguments: {' '.join(others)}")
    if others:
        options.words += others
    return options


def parser() -> argparse.ArgumentParser:
    """The command line's grammar.

    >>> parser().parse_args(["replay", "cases.jsonl", "--timing"]).timing
    True
    """
    top = argparse.ArgumentParser(prog="volcano-lab",
                                  description="Volcano's scheduler as a laboratory.")
    top.add_argument("--version", action="version",
                     version=f"volcano-lab {volcano_lab.__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    from volcano_lab.cli.serve import add_options as add_serve_options

    run = commands.add_parser(
        "run", help="one cycle on manifests: queues, jobs, placements, what waits and why")
    run.add_argument("files", nargs="+", metavar="FILE",
                     help="manifests (YAML or JSON), a folder of them, or - (input)")
    run.add_argument("--conf", metavar="FILE",
                     help="a volcano-scheduler.conf or the ConfigMap of one (default: Volcano's own default)")
    run.add_argument("--output", choices=["table", "json"], default="table", help="default: table")
    run.add_argument("--now", metavar="TIME", help="when the cycle runs, as 13:30 (default: now)")
    run.set_defaults(command=_run)

    why = commands.add_parser("why",
                              help="why a job, pod or queue is as it is, and what would change it")
    why.add_argument(
        "words", nargs="+", metavar="FILE... NAME",
        help="manifests as for run, and at the end a job, pod (namespace/name) or queue")
    why.add_argument("--node", metavar="NODE", help="why the pod NAME is not on this node")
    why.add_argument("--conf", metavar="FILE",
                     help="a volcano-scheduler.conf or the ConfigMap of one (default: Volcano's own default)")
    why.add_argument("--output", choices=["table", "json"], default="table", help="default: table")
    why.add_argument("--now", metavar="TIME", help="when the cycle runs, as 13:30 (default: now)")
    why.set_defaults(command=_why)

    replay = commands.add_parser("replay",
                                 help="the decisions on recorded cases, one JSON object a line")
    replay.add_argument("cases", metavar="CASES", help="a .jsonl or .jsonl.gz file, a case a line")
    replay.add_argument("--timing", action="store_true",
                        help="print what each phase took instead of the decisions")
    replay.set_defaults(command=_replay)

    serve = commands.add_parser(
        "serve", help="run cycles on a folder of manifests that is watched, with metrics")
    add_serve_options(serve)
    serve.set_defaults(command=_serve)

    lab = commands.add_parser("lab", help="open the first notebook in JupyterLab")
    lab.add_argument("jupyter", nargs=argparse.REMAINDER, metavar="...",
                     help="JupyterLab's options, as --no-browser")
    lab.set_defaults(command=_lab)
    return top


def _run(options: argparse.Namespace) -> int:
    from volcano_lab.cli.run import run

    return run(options.files, options.conf, options.output, options.now)


def _why(options: argparse.Namespace) -> int:
    from volcano_lab.cli.why import why

    *files, name = options.words
    if not files:
        raise Mistake(
            f'why is given "{name}" alone; allowed are one or more files, and then the name of a job, pod or queue'
        )
    return why(files, name, options.node, options.conf, options.output, options.now)


def _replay(options: argparse.Namespace) -> int:
    from volcano_lab.cli.replay import replay_all

    try:
        failed = replay_all(options.cases, options.timing)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Mistake(f"{options.cases}: cannot be read ({error.strerror or error})") from None
    except ValueError:
        raise Mistake(
            f"{options.cases}: is not a file of cases; allowed is one JSON object a line") from None
    if failed:
        print(f'volcano-lab: {failed} cases raised; their lines have "error"', file=sys.stderr)
    return 0


def _serve(options: argparse.Namespace) -> int:
    from volcano_lab.cli.serve import serve

    return serve(options)


def _lab(options: argparse.Namespace) -> int:
    from volcano_lab.cli.lab import lab

    return lab(options.jupyter)
