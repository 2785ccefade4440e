"""The papers, in the order of their years."""

from papers.chakrabarti_2008 import CHAKRABARTI_2008
from papers.elsas_2008 import ELSAS_2008
from papers.welleck_2016 import WELLECK_2016
from papers.yue_2007 import YUE_2007

PAPERS = (YUE_2007, CHAKRABARTI_2008, ELSAS_2008, WELLECK_2016)
