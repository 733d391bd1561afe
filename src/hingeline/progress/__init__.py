"""How far long work is: bars in terminals and notebooks, silence everywhere else.

What works leaves a note (``FitBar``, ``CountBar``, ``StepsBar``); a thread of the ``Screen`` reads the notes a few
times a second and draws them. So the work itself pays for setting an attribute, however often it reports.

The drawing is rich's: ``pip install "hingeline[progress]"``. Without it, lines are printed now and then.
"""

from __future__ import annotations

from .bars import Bar, CountBar, FitBar, StepsBar
from .screen import Screen, counting, fitting, open_screen

__all__ = ["Bar", "CountBar", "FitBar", "Screen", "StepsBar", "counting", "fitting", "open_screen"]
