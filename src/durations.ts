// In milliseconds.
export const second = 1_000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

/** How far the clocks of two machines may differ. A stored time further in the future was written by a wrong clock. */
export const clockSkew = 2 * minute
