"""The papers' own experiments, one preset each.

Examples
--------
>>> from papers import PRESETS
>>> [preset.name for preset in PRESETS]
['yue-2007', 'elsas-2008', 'chakrabarti-2008', 'welleck-2016']
"""

from papers.chakrabarti_2008 import CHAKRABARTI_2008
from papers.elsas_2008 import ELSAS_2008
from papers.findings import Claim, Exhibit, Findings, Section
from papers.preset import Preset, option
from papers.run import run_preset
from papers.session import Session
from papers.welleck_2016 import WELLECK_2016
from papers.yue_2007 import YUE_2007

PRESETS = (YUE_2007, ELSAS_2008, CHAKRABARTI_2008, WELLECK_2016)

__all__ = [
    "PRESETS",
    "Claim",
    "Exhibit",
    "Findings",
    "Preset",
    "Section",
    "Session",
    "option",
    "run_preset",
]
