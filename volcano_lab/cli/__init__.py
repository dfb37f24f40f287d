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
    """Something the user has to fix; the text, with its facts put in, is one sentence a line."""

    def __init__(self, text: str, /, **facts: object):
        super().__init__(text)
        self.text, self.facts = text, facts

    def __str__(self) -> str:
        messages = sys.modules.get("volcano_lab.messages")  # takes its time to load: for English
        if messages is not None:                            # it is not needed
            return messages.gettext(self.text, **self.facts)
        return self.text.format(**self.facts) if self.facts else self.text


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
        _told(Mistake("the output is closed; nothing of it is shown"))
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if hasattr(sys.stdout, "reconfigure"):  # names may have signs that this output has not
        sys.stdout.reconfigure(errors="backslashreplace")
    quiet = logging.NullHandler()  # what matters is told; serve's log shows itself with -v
    logging.getLogger("volcano_lab").addHandler(quiet)
    try:
        return volcano_lab.main(arguments, prog_name="volcano-lab", standalone_mode=False) or DONE
    except Mistake as mistake:
        return _told(mistake)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return MISTAKE
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "volcano-lab"
        return _told(Mistake("{message} (see {command} --help)", command=command,
                             message=" ".join(error.format_message().split())))
    except OSError as error:  # a full disk
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        reason = error.strerror or error
        return _told(Mistake("{file}: {problem}", file=error.filename, problem=reason)
                     if error.filename else Mistake("the output: {problem}", problem=reason))
    except click.Abort:
        return INTERRUPTED
    finally:
        gc.enable()
        logging.getLogger("volcano_lab").removeHandler(quiet)


def _told(mistake: Mistake) -> int:
    for line in str(mistake).split("\n"):
        if len(line) > 200 or not line.isprintable():  # the framework takes its time to load
            from volcano_lab.messages import one_line

            line = one_line(line)
        try:
            print(f"volcano-lab: {line}", file=sys.stderr)
        except OSError:  # nobody reads it
            return MISTAKE
    return MISTAKE
