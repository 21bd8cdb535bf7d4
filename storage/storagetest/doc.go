// Package storagetest is what every [storage.Store] has to pass: each sentence
// of the contract as a test, and random histories compared with [Reference],
// a store so simple that it can be checked by reading it. Test code only.
//
// An engine's own test is a few lines:
//
//	func TestStore(t *testing.T) {
//		storagetest.Run(t, func(t *testing.T) storagetest.Harness {
//			path := filepath.Join(t.TempDir(), "parley.db")
//			…
//		})
//	}
package storagetest
