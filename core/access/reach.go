package access

// Reaches reports whether the role is least or above it.
func (r Role) Reaches(least Role) bool { return !r.below(least) }
