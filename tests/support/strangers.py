"""Data as strangers bring it, with the traps of their fields: clicks, transactions, stocks.

``python tests/support/strangers.py FOLDER`` writes all three at the size of a real log.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

START = np.datetime64("2026-01-05")  # a Monday
SECONDS_OF_A_DAY = 86_400


def clicks(
    sessions: int = 800, items: int = 900, shown: int = 12, days: int = 30, seed: int = 0
) -> pd.DataFrame:
    """A log of a shop: the items that an old ranker showed in each session, and their clicks.

    People look at the first positions more often than at later ones, so that ``position`` says what
    the old ranker did.  Rows are in the order of positions.  Items are launched before and during
    the log: those of the last days have no past.
    """
    random = np.random.default_rng(seed)
    appeal, price = random.normal(size=items), random.gamma(2.0, 20.0, items).round(2)
    launched = random.uniform(-2 * days, 0.9 * days, items)
    launched[:shown] = -2 * days  # enough items for the first session
    rating = np.clip(3.5 + 0.6 * appeal + 0.6 * random.normal(size=items), 1, 5).round(1)
    when = np.sort(random.integers(0, days * SECONDS_OF_A_DAY, sessions))
    rows = []
    for session, second in enumerate(when):
        day = second / SECONDS_OF_A_DAY
        item = random.choice(np.flatnonzero(launched <= day), shown, replace=False)
        match = random.normal(size=shown)
        old_ranker = match + 0.5 * appeal[item] + random.normal(size=shown)
        order = np.argsort(-old_ranker)
        item, match, position = item[order], match[order], np.arange(1, shown + 1)
        wish = 1 / (1 + np.exp(2.0 - 0.8 * match - 0.8 * appeal[item] + 0.01 * price[item]))
        rows.append(
            pd.DataFrame(
                {
                    "session": f"s{session:06d}",
                    "time": START + np.timedelta64(int(second), "s"),
                    "device": random.choice(["phone", "tablet", "desktop"]),
                    "position": position,
                    "sku": [f"SKU-{one:04d}" for one in item],
                    "price": price[item],
                    "rating": rating[item],
                    "text_match": match.round(4),
                    "days_on_sale": np.floor(day - launched[item]).astype(int),
                    "clicked": (random.random(shown) < 1.6 * wish * position**-0.7).astype(int),
                }
            )
        )
    return pd.concat(rows, ignore_index=True)


def fraud(
    rows: int = 5000, share: float = 0.01, codes: int = 89, days: int = 60, seed: int = 0
) -> pd.DataFrame:
    """Transactions of cards with times to the second, of which a share is fraud.

    ``mcc`` is the code of the merchant's trade: a whole number that is no quantity, since trades
    with much fraud are scattered among the codes.
    """
    random = np.random.default_rng(seed)
    code = np.sort(random.choice(np.arange(742, 9950), codes, replace=False))
    risk = random.permutation(np.linspace(-1.5, 1.5, codes))
    second = np.sort(random.integers(0, days * SECONDS_OF_A_DAY, rows))
    trade = random.choice(codes, rows, p=random.dirichlet(np.full(codes, 2.0)))
    amount = random.lognormal(3.5, 1.0, rows).round(2)
    distance = random.exponential(20.0, rows).round(1)
    foreign = random.random(rows) < 0.1
    night = (second % SECONDS_OF_A_DAY) < 6 * 3600
    logit = risk[trade] + 0.6 * np.log(amount / 33) + 0.02 * distance + 1.2 * foreign + 0.8 * night
    taken = np.argsort(-(logit + random.logistic(size=rows)))[: max(1, round(share * rows))]
    return pd.DataFrame(
        {
            "time": START + second.astype("timedelta64[s]"),
            "amount": amount,
            "mcc": code[trade],
            "country": np.where(foreign, random.choice(["FR", "PL", "US"], rows), "DE"),
            "km_from_home": distance,
            "card_age_days": random.integers(10, 2000, rows),
            "is_fraud": np.isin(np.arange(rows), taken).astype(int),
        }
    )


def stocks(names: int = 300, days: int = 250, ahead: int = 5, seed: int = 0) -> pd.DataFrame:
    """Stocks by trading day, with the return of the next days as label.

    The labels of successive days overlap in all but one of these days.
    """
    random = np.random.default_rng(seed)
    date = pd.bdate_range(START, periods=days)

    def persistent(memory: float) -> np.ndarray:
        values = random.normal(size=(days, names))
        for day in range(1, days):
            values[day] = memory * values[day - 1] + np.sqrt(1 - memory**2) * values[day]
        return values

    momentum, value, volatility = persistent(0.95), persistent(0.99), np.exp(persistent(0.98) / 3)
    market = random.normal(size=(days + ahead, 1))
    noise = np.vstack([volatility, np.ones((ahead, names))]) * random.normal(
        size=(days + ahead, names)
    )
    daily = 0.01 * (market + noise)
    daily[1 : days + 1] += 0.0004 * momentum + 0.0004 * value
    total = np.vstack([np.zeros(names), np.cumsum(daily, axis=0)])
    forward = total[ahead + 1 : ahead + 1 + days] - total[1 : days + 1]
    sector = random.integers(0, 10, names)
    return pd.DataFrame(
        {
            "date": np.repeat(date.to_numpy().astype("datetime64[D]").astype(str), names),
            "ticker": np.tile([f"T{name:03d}" for name in range(names)], days),
            "sector": np.tile([f"sector {one}" for one in sector], days),
            "momentum": momentum.ravel().round(4),
            "value": value.ravel().round(4),
            "volatility": volatility.ravel().round(4),
            "forward_return": forward.ravel().round(6),
        }
    )


def main(folder: Path) -> None:
    """Write the three files at the size of a real log."""
    folder.mkdir(parents=True, exist_ok=True)
    clicks(sessions=5142).to_csv(folder / "clicks.csv", index=False)
    fraud(rows=50_000).to_csv(folder / "fraud.csv", index=False)
    stocks().to_csv(folder / "returns.csv", index=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
