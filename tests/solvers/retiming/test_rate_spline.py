"""Where velocities lead: against SciPy's integration of the quaternion's and the place's own equations."""

from __future__ import annotations

import numpy as np
from robokin_addon.robokin import Joint, Link, RobotModel, integrate
from robokin_addon.robokin.spatial import quaternion
from robokin_addon.solvers.retiming.rate_spline import RateSpline
from scipy.integrate import solve_ivp
from scipy.interpolate import BSpline

DT, STEPS = 0.04, 12


def test_it_is_where_its_velocity_leads() -> None:
    model = RobotModel("body", [Link("world"), Link("body")], [Joint("fly", "floating", "world", "body")])
    rng = np.random.default_rng(0)
    points = np.clip(np.cumsum(rng.normal(0.0, 2.0, (STEPS + 2, 6)), axis=0), -6.0, 6.0)
    first = integrate(model, model.neutral(), rng.normal(size=6))
    velocity = BSpline(DT * np.arange(-2.0, STEPS + 3.0), points, 2)

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        v = velocity(t)
        turn = 0.5 * quaternion.multiply(x[3:], np.concatenate(([0.0], v[3:])))
        return np.concatenate((quaternion.to_matrix(x[3:]) @ v[:3], turn))

    at = np.linspace(0.0, STEPS * DT, 101)
    interval = np.minimum((at / DT).astype(int), STEPS - 1)
    q, v, a = RateSpline(model, first, points, DT).at(interval, at / DT - interval)
    np.testing.assert_allclose(v, velocity(at), atol=1e-12)
    np.testing.assert_allclose(a[:-1], velocity.derivative()(at[:-1]), atol=1e-9)
    found = solve_ivp(rate, (0.0, at[-1]), first, "DOP853", at, rtol=1e-12, atol=1e-12, max_step=0.25 * DT).y.T
    np.testing.assert_allclose(q, found, atol=1e-8)
