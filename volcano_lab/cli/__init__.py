"""The command `volcano-lab`: a cycle on manifests, why, what if, and the lessons.

Exit codes: 0 done (also if jobs wait, unless `--fail-on-pending` is given), 1 found (`lint`: an
error; `diff`: a difference; `run --fail-on-pending`: a job that waits; `sweep`, `replay`: a
failure), 2 for an error that the user must fix, reported in a sentence, 130 after Ctrl-C. `grammar`
has the commands; modules of a command are imported when it runs, and here none at all: until `main`
runs, Ctrl-C ends in a traceback.
"""

import os
import sys

DONE, FOUND, MISTAKE, INTERRUPTED = 0, 1, 2, 130


class Mistake(Exception):
    """An error that the user must fix; the text, with its facts filled in, is one sentence per
    line.
    """

    def __init__(self, text: str, /, **facts: object):
        super().__init__(text)
        self.text, self.facts = text, facts

    def __str__(self) -> str:
        from volcano_lab.messages import OneSentence  # slow to load

        return str(OneSentence(self.text, **self.facts))


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code.

    >>> main(["run", "no-such-file.yaml"])
    2
    """
    try:
        return _main(arguments)
    except KeyboardInterrupt:  # while modules load; within a command click reports it
        print(file=sys.stderr)
        return INTERRUPTED


def _main(arguments: list[str] | None) -> int:
    import atexit
    import gc
    import logging
    from contextlib import suppress

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads cost more than a cycle
    atexit.register(gc.freeze)  # objects that live until exit need no garbage collection
    gc.disable()  # while modules load; each command enables it again
    import click

    from volcano_lab.cli.grammar import volcano_lab

    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  until the end
        _report(Mistake("command.closed"))
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if hasattr(sys.stdout, "reconfigure"):  # names may have characters that this output lacks
        sys.stdout.reconfigure(errors="backslashreplace")
    quiet = logging.NullHandler()  # errors are reported; -v shows serve's log
    logging.getLogger("volcano_lab").addHandler(quiet)
    try:
        return volcano_lab.main(arguments, prog_name="volcano-lab", standalone_mode=False) or DONE
    except Mistake as mistake:
        return _report(mistake)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return MISTAKE
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "volcano-lab"
        return _report(Mistake("command.help", command=command,
                               message=" ".join(error.format_message().split())))
    except OSError as error:  # a full disk
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        reason = error.strerror or error
        return _report(Mistake("command.problem", file=error.filename, problem=reason)
                       if error.filename else Mistake("command.output", problem=reason))
    except click.Abort:
        return INTERRUPTED
    except Exception as error:
        from volcano_lab.messages import OneSentence

        if not isinstance(error, OneSentence):
            raise
        return _report(Mistake(str(error)))
    finally:
        gc.enable()
        logging.getLogger("volcano_lab").removeHandler(quiet)


def _report(mistake: Mistake) -> int:
    for line in str(mistake).split("\n"):
        if len(line) > 200 or not line.isprintable():  # the framework is slow to load
            from volcano_lab.messages import one_line

            line = one_line(line)
        try:
            print(f"volcano-lab: {line}", file=sys.stderr)
        except OSError:  # the output is closed
            return MISTAKE
    return MISTAKE
