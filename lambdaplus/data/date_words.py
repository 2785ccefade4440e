"""Dates and times as text, in the spellings of spreadsheets, databases and programs.

As categories they would be of no use: those of later rows have not been seen.  What recurs is no
date: a time of day, a day of the week, or a month without a year.
"""

_YEAR = r"(19|20)\d{2}"
_SHORT = r"(19|20)?\d{2}"
_MONTH = (
    r"(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?"
    r"|oct(ober)?|nov(ember)?|dec(ember)?)\.?"
)
_WEEKDAY = r"((mon|tues?|wed(nes)?|thu(rs)?|fri|sat(ur)?|sun)(day)?\.?,? )?"
_DAY = r"(0?[1-9]|[12]\d|3[01])"
_MONTH_NUMBER = r"(0?[1-9]|1[0-2])"
_DATES = (
    r"\d{4}([-/.]\d{1,2}){2}",
    r"\d{1,2}[-/.]\d{1,2}[-/.]\d{4}",
    # Of two digits, all fields have them, or those with a slash: 1.2.10 may be a version.
    rf"({_DAY}/{_MONTH_NUMBER}|{_MONTH_NUMBER}/{_DAY})/\d{{2}}",
    r"(0[1-9]|[12]\d|3[01])([-.])(0[1-9]|[12]\d|3[01])[-.]\d{2}",
    r"\d{2}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])",
    rf"{_YEAR}[-/.]{_MONTH_NUMBER}|{_MONTH_NUMBER}[-/.]{_YEAR}",
    rf"{_YEAR}-(00[1-9]|0[1-9]\d|[12]\d\d|3[0-5]\d|36[0-6])",  # days of the year
    rf"{_YEAR}[- ]?(W(0[1-9]|[1-4]\d|5[0-3])(-?[1-7])?|W[1-9]|Q[1-4]|M{_MONTH_NUMBER})",
    rf"(W(0?[1-9]|[1-4]\d|5[0-3])|Q[1-4])[-/ ]?{_YEAR}",
    rf"{_DAY}(st|nd|rd|th)?[-/. ]?{_MONTH}[-/, ]*{_SHORT}",
    rf"{_MONTH}[- ]?({_DAY}(st|nd|rd|th)?,? ){_YEAR}",
    rf"{_MONTH}[-/, ]*{_YEAR}|{_MONTH}[-/ ]'?\d{{2}}",
    rf"{_YEAR}[-/ ]?{_MONTH}([-/ ]?{_DAY})?",
    rf"{_YEAR}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])T?\d{{4}}(\d{{2}})?Z?",
    r"\d{4}年\d{1,2}月(\d{1,2}日)?",
)
_ZONE = r"( ?([A-Z]{1,4}|[+-]\d{2}(:?\d{2})?))"
_TIME = rf"\d{{1,2}}(:\d{{2}}(:\d{{2}}([.,]\d+)?)?)?( ?[ap]\.?m\.?)?{_ZONE}?"

DATES = rf"(?i)^{_WEEKDAY}({'|'.join(_DATES)})(( ?T ?|,? +){_TIME})?$"
"""A regular expression, without what those of polars lack."""
