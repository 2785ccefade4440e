"""Forms of ranking metrics: what the term of a document depends on beside its gain.

`lambdaplus.metrics.declaration` has the general formula, in which a form defines the parts that
others lack.  Each form has a file with its parameters and two kernels: its value, and its swap
deltas as potentials (`lambdaplus.metrics.forms.form`).
"""

from lambdaplus.metrics.forms.cascade import Cascade
from lambdaplus.metrics.forms.count_above import CountAbove
from lambdaplus.metrics.forms.form import Form, Rule, optional_function
from lambdaplus.metrics.forms.gains import Gains
from lambdaplus.metrics.forms.window import Window

__all__ = ["Cascade", "CountAbove", "Form", "Gains", "Rule", "Window", "optional_function"]
