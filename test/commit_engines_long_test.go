//go:build long

package e2e_test

import (
	"testing"

	"github.com/laketap/laketap/test/engines"
)

// N9 with Java's client: Spark's commits and creations under every failure.
func TestLongFailedCommitsOfSpark(t *testing.T) {
	c := newCommitter(t, engines.Spark, "create table lk.%s (id bigint) using iceberg", "insert into lk.%s values (%d)")
	c.commits()
	c.creates()
}
