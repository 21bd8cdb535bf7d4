package config

// nearest returns the known word that s was most likely meant to be, "" when
// none is near.
func nearest(s string, known []string) string {
	best, least := "", max(2, len(s)/3)+1
	for _, k := range known {
		if d := distance(s, k); d < least && d < len(k) {
			best, least = k, d
		}
	}
	return best
}

// distance counts the insertions, deletions, changes and swaps of neighbours
// that lead from a to b.
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
