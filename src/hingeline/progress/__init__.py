"""Progress of long work: bars in terminals and notebooks, silence everywhere else.

Work reports to a bar (``FitBar``, ``CountBar``, ``StepsBar``), and a thread of the ``Screen`` draws the bars a few
times per second. So a report costs the work no more than setting an attribute.

Bars are drawn with rich (``pip install rich``). Without it, a line is printed every few seconds.
"""

from __future__ import annotations

from .bars import Bar, CountBar, FitBar, StepsBar
from .screen import Screen, counting, fitting, open_screen

__all__ = ["Bar", "CountBar", "FitBar", "Screen", "StepsBar", "counting", "fitting", "open_screen"]
