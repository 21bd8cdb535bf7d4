package llm

import "slices"

// ByStrength returns the models of one strength in the configured order, then
// the others: who asks for a weak model gets one if there is one.
func (p *Pool) ByStrength(strength string) []Model {
	order := slices.Clone(p.models)
	slices.SortStableFunc(order, func(a, b Model) int {
		return other(a, strength) - other(b, strength)
	})
	return order
}

func other(m Model, strength string) int {
	if m.Info().Strength == strength {
		return 0
	}
	return 1
}
