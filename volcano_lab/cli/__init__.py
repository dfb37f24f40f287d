"""The command `volcano-lab`: a cycle on manifests, why, what if, and the lessons.

Exit codes: 0 done (also where jobs wait, unless `--fail-on-pending` is given), 1 what was looked
for was found (`lint`: an error; `diff`: a difference; `run --fail-on-pending`: a job that waits;
`sweep`, `replay`: a failure), 2 for what the user has to fix, told in a sentence, 130 after Ctrl-C.
`grammar` has the commands; what a command needs is imported when it runs, and here nothing at all:
until `main` runs, Ctrl-C ends in a traceback.
"""

import os
import sys

DONE, FOUND, MISTAKE, INTERRUPTED = 0, 1, 2, 130


class Mistake(Exception):
    """Something the user has to fix; the text is one sentence a line."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit code.

    >>> main(["run", "no-such-file.yaml"])
    2
    """
    try:
        return _main(arguments)
    except KeyboardInterrupt:  # while modules load; within a command click says so
        print(file=sys.stderr)
        return INTERRUPTED


def _main(arguments: list[str] | None) -> int:
    import atexit
    import gc
    import logging
    from contextlib import suppress

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's threads take longer than a cycle
    atexit.register(gc.freeze)  # what goes with the process need not be searched for garbage
    gc.disable()  # while modules load; each command turns it on again
    import click

    from volcano_lab.cli.grammar import volcano_lab

    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  until the end
        _told("the output is closed; nothing of it is shown")
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if hasattr(sys.stdout, "reconfigure"):  # names may have signs that this output has not
        sys.stdout.reconfigure(errors="backslashreplace")
    quiet = logging.NullHandler()  # what matters is told; serve's log shows itself with -v
    logging.getLogger("volcano_lab").addHandler(quiet)
    try:
        return volcano_lab.main(arguments, prog_name="volcano-lab", standalone_mode=False) or DONE
    except Mistake as mistake:
        return _told(str(mistake))
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return MISTAKE
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "volcano-lab"
        message = " ".join(error.format_message().split())
        return _told(f"{message} (see {command} --help)")
    except OSError as error:  # a full disk
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _told(f"{error.filename or 'the output'}: {error.strerror or error}")
    except click.Abort:
        return INTERRUPTED
    finally:
        gc.enable()
        logging.getLogger("volcano_lab").removeHandler(quiet)


def _told(sentences: str) -> int:
    language = sys.modules.get("volcano_lab.messages.language")  # where another one is spoken
    other = language is not None and language.spoken() != language.ENGLISH
    for line in sentences.split("\n"):
        if other:
            from volcano_lab.messages import gettext

            line = gettext(line)
        if len(line) > 200 or not line.isprintable():  # the framework takes its time to load
            from volcano_lab.messages import one_line

            line = one_line(line)
        try:
            print(f"volcano-lab: {line}", file=sys.stderr)
        except OSError:  # nobody reads it
            return MISTAKE
    return MISTAKE
