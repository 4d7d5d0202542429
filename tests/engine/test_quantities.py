"""Numbers with their units."""

import pytest

from longsearch.engine.quantities import quantities


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is 12.5 cm wide", [(12.5, 12.5, "cm")]),
        ("40-60 kg or 1,234.56 €", [(40, 60, "kg"), (1234.56, 1234.56, "€")]),
        ("$3 million; 92% of 198", [(3e6, 3e6, "$"), (92, 92, "%"), (198, 198, "")]),
        ("a lease of 12s, 24-byte keys", [(12, 12, "s"), (24, 24, "B")]),
        ("60 milliseconds to 5 minutes", [(60, 60, "ms"), (5, 5, "min")]),
        ("\u22123 °C, 10 Gbps", [(-3, -3, "°C"), (10, 10, "Gbit/s")]),
        ("12 × 20 cm, 3×4×5 m", [(12, 12, "cm"), (20, 20, "cm"), (3, 3, "m"), (4, 4, "m"), (5, 5, "m")]),
        ("0.5 x 20.5 mm", [(0.5, 0.5, "mm"), (20.5, 20.5, "mm")]),
        (
            "10 × 5 kg, 2 x 3, 12 × 20 cm²",
            [(10, 10, ""), (5, 5, "kg"), (2, 2, ""), (3, 3, ""), (12, 12, ""), (20, 20, "cm²")],
        ),
        ("10^6 kg, 1e6 Pa, 1.5 × 10^3 m", [(1e6, 1e6, "kg"), (1e6, 1e6, "Pa"), (1500, 1500, "m")]),
        ("2^6 kg, km/5 kg", [(2, 2, "")]),
        ("1½ inches, 2 1/2 ft, 1/2 inch", [(1.5, 1.5, "in"), (2.5, 2.5, "ft"), (0.5, 0.5, "in")]),
        ("1½ million €", [(1.5e6, 1.5e6, "€")]),
        ("Rs 5 lakh, USD 5 million, CHF 3", [(5e5, 5e5, "₹"), (5e6, 5e6, "$"), (3, 3, "CHF")]),
        ("3 bis 4 Stunden, 500 square meters", [(3, 4, "h"), (500, 500, "m²")]),
        ("version 1.2.3, CVE-2021-44228, mp3", []),
    ],
)
def test_quantities_are_read_with_unit_range_and_thousands(text: str, found: list[tuple[float, float, str]]) -> None:
    assert [(one.low, one.high, one.unit) for one in quantities(text)] == found
