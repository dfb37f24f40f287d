"""The values that a control of a lab takes, whether it is data or a widget of its own."""


def choices_of(control):
    """All values of a control."""
    if hasattr(control, "choices"):
        return control.choices()
    if hasattr(control, "min"):
        step = control.step or 1
        return [type(control.min)(control.min + step * number)
                for number in range(round((control.max - control.min) / step) + 1)]
    if hasattr(control, "options"):
        return [option[1] if isinstance(option, tuple) else option for option in control.options]
    return [False, True]
