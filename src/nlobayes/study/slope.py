"""Settings that every prior of trained slopes has."""

from __future__ import annotations

from nlobayes.settings.values import Choice


class SlopeSettings(Choice):
    """Prior of the trained slopes of activations."""

    @property
    def learns_hyperparameters(self) -> bool:
        """Whether it learns more parameters than the slopes."""
        return False
