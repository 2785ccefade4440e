"""Names of the columns of a table that somebody wants, by what each is used for."""

from __future__ import annotations

from dataclasses import dataclass

from lambdaplus.data.table_files import NO_QID, TableFile
from lambdaplus.saved_model.words import like


@dataclass(frozen=True)
class Columns:
    """Names of the columns of a table: what each is used for, and which are features.

    Without ``features``, all others that can be are features; those with a + before their names are
    taken besides the others, and so are ``categories``.  ``qid`` is "none" without queries.
    """

    qid: str = "qid"
    label: str = "label"
    weight: str = ""
    order: str = ""
    features: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        roles = {name: getattr(self, name) for name in ("qid", "label", "weight")}
        for name, column in roles.items():
            if column and list(roles.values()).count(column) > 1:
                twice = " and ".join(other for other in roles if roles[other] == column)
                raise ValueError(f"{twice} are the same column, {column!r}")
            if not column and name != "weight":
                raise ValueError(f"{name} is empty: leave it out for the default")
        if self.order and self.order in (self.label, self.weight):
            raise ValueError(f"order is the column of labels or weights, {self.order!r}")

    @property
    def grouped(self) -> bool:
        """Whether a column has the query of each row."""
        return self.qid != NO_QID

    @property
    def roles(self) -> dict[str, str]:
        """The column of each role that has one."""
        roles = ("qid", "label", "weight", "order")
        named = {role: getattr(self, role) for role in roles if getattr(self, role)}
        return {role: name for role, name in named.items() if name != NO_QID}

    @property
    def named(self) -> tuple[str, ...]:
        """The columns that are to be features, whatever they look like."""
        return (*(name.removeprefix("+") for name in self.features), *self.categories)

    def candidates(self, table: TableFile) -> list[str]:
        """The columns that may be features or are dropped; a ValueError for names of no column."""
        taken, names = self.roles.values(), table.names
        for option in ("features", "categories", "drop"):
            for name in getattr(self, option):
                column = name.removeprefix("+") if option == "features" else name
                if column not in names:
                    raise ValueError(
                        f"--{option}: there is no column {column!r}{like(column, names)}; there "
                        f"are: {', '.join(names)}"
                    )
                if column in taken:
                    raise ValueError(
                        f"--{option}: {column!r} is the column of the labels, queries, weights or "
                        "order"
                    )
                if option != "drop" and column in self.drop:
                    raise ValueError(f"{column!r} is in --{option} and in --drop")
        only = not all(name.startswith("+") for name in self.features)
        wanted = {*self.drop, *(self.named if only else names)} - {*taken}
        return [name for name in names if name in wanted]
