"""The toy input of the Les Houches evolution tables (hep-ph/0204316)."""

from nlobayes.physics.pdf import InputDistributions, Term

_UP, _DOWN = (Term(5.107200, 0.8, 3),), (Term(3.064320, 0.8, 4),)
_DOWN_BAR, _UP_BAR = Term(0.1939875, -0.1, 6), Term(0.1939875, -0.1, 7)


def _times(factor: float, term: Term) -> Term:
    return term._replace(coefficient=factor * term.coefficient)


LES_HOUCHES_TOY = InputDistributions(
    name="Les Houches toy input (hep-ph/0204316)",
    minus=(_UP, _DOWN, ()),
    plus=(
        (*_UP, _times(2, _UP_BAR)),
        (*_DOWN, _times(2, _DOWN_BAR)),
        (_times(0.4, _UP_BAR), _times(0.4, _DOWN_BAR)),
    ),
    gluon=(Term(1.7, -0.1, 5),),
    input_scale_gev2=2.0,
    charm_scale_gev2=2.0,
    bottom_scale_gev2=4.5**2,
    alpha_s=0.35,
    alpha_s_scale_gev2=2.0,
)
