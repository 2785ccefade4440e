"""Forms of ranking metrics: how the term of a document depends on the others of its query."""

from lambdaplus.metrics.forms.cascade import Cascade
from lambdaplus.metrics.forms.count_above import CountAbove
from lambdaplus.metrics.forms.form import Form
from lambdaplus.metrics.forms.gains import Gains

__all__ = ["Cascade", "CountAbove", "Form", "Gains"]
