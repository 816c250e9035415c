"""The human body as fractions of its height.

Source: R. Drillis and R. Contini, "Body segment parameters", 1966.
"""

FOOT, SHANK, THIGH = 0.039, 0.246, 0.245
UPPER_ARM, FOREARM, HAND = 0.186, 0.146, 0.108
HIP, SHOULDER = 0.191 / 2.0, 0.259 / 2.0  # beside the middle
HIP_HEIGHT, SHOULDER_HEIGHT = 0.530, 0.818
