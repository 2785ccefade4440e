"""Forms of ranking metrics: what the term of a document depends on beside its gain.

`lambdaplus.metrics.declaration` has the general formula, in which a form defines the parts that
others lack.  Each form is one class in a file: its parameters, its value, and its swap deltas as
potentials.  A new form is added here and nowhere else.
"""

from lambdaplus.metrics.forms.cascade import Cascade
from lambdaplus.metrics.forms.count_above import CountAbove
from lambdaplus.metrics.forms.form import Form
from lambdaplus.metrics.forms.gains import Gains
from lambdaplus.metrics.forms.window import Window

__all__ = ["Cascade", "CountAbove", "Form", "Gains", "Window"]
