//go:build long

package remember

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/laketap/laketap"
)

// What the long test holds the memory to.
const (
	longObservations = 10_000_000
	longDays         = 90
	longBytes        = 512 << 20
	longAnswer       = 200 * time.Millisecond
	longBatch        = 100_000
)

// TestLongMemory has 300 tables of 20 columns read by 8 engines of several
// principals over 90 days, 10 M times, with new files every day.
func TestLongMemory(t *testing.T) {
	o := Options{File: t.TempDir() + "/memory.db", URL: os.Getenv("LAKETAP_TEST_MEMORY")}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	began := time.Now()
	rnd := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rnd, 1.2, 8, 299)
	first := time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
	open := openings{}
	for done := 0; done < longObservations; done += longBatch {
		d := newDigest()
		for i := range longBatch {
			at := first.Add(time.Duration(float64(done+i) / longObservations * longDays * 24 * float64(time.Hour)))
			o := longObservation(rnd, int(zipf.Uint64()), at)
			d.add(&laketap.Batch{Observations: []laketap.Observation{o}}, open)
		}
		if err := s.write(t.Context(), d, nil); err != nil {
			t.Fatal(err)
		}
		if done/longBatch%10 == 9 {
			if err := s.Tend(t.Context(), first.Add(time.Duration(float64(done)/longObservations*longDays*24*float64(time.Hour))), Bounds{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	now := first.AddDate(0, 0, longDays)
	if err := s.Tend(t.Context(), now, Bounds{}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d observations of %d days in %v", longObservations, longDays, time.Since(began).Round(time.Second))
	for _, table := range []string{"tables", "actors", "uses", "files", "file_uses", "hours"} {
		var n int64
		if err := s.db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM `+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d rows", table, n)
	}
	if o.URL == "" {
		if size := longSize(t, s, o.File); size > longBytes {
			t.Errorf("the memory takes %d MB, at most %d", size>>20, longBytes>>20)
		}
	}
	var took []time.Duration
	for range 15 {
		began := time.Now()
		all, err := s.KnownTables(t.Context(), now)
		if err != nil || len(all) != 300 {
			t.Fatalf("%d tables (%v)", len(all), err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	t.Logf("tables in %v (median of %d)", took[len(took)/2], len(took))
	if took[len(took)/2] > longAnswer {
		t.Errorf("the tables take %v, at most %v", took[len(took)/2], longAnswer)
	}
}

// longSize returns the bytes of the files on disk, the log moved into the file
// but nothing rewritten.
func longSize(t *testing.T, s *Store, file string) (size int64) {
	t.Helper()
	if _, err := s.db.ExecContext(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(file + suffix); err == nil {
			size += info.Size()
		}
	}
	t.Logf("%.1f MB on disk", float64(size)/(1<<20))
	return size
}

// longObservation is one read of one of a table's files, of the last days
// mostly.
func longObservation(rnd *rand.Rand, table int, at time.Time) laketap.Observation {
	day := at.YearDay() - min(int(rnd.ExpFloat64()*5), 60)
	o := laketap.Observation{
		At: at, Engine: laketap.Engine{Name: fmt.Sprint("engine", rnd.IntN(4)), Version: fmt.Sprint(rnd.IntN(2))}, Principal: fmt.Sprint("prod:p", rnd.IntN(3)),
		Session: fmt.Sprint(at.Unix() / 600), Table: laketap.TableID{Catalog: "prod", UUID: fmt.Sprintf("00000000-0000-0000-0000-%012d", table)},
		File: laketap.File{
			Object:  laketap.Object{ObjectName: laketap.ObjectName{Origin: "aws", Bucket: "lake", Key: fmt.Sprintf("warehouse/ns/table%d/data/day=%d/%05d.parquet", table, day, rnd.IntN(4))}, Size: 1 << 27},
			Content: laketap.DataContent, Format: "parquet", Rows: 1e6, Partition: fmt.Sprint("1000=", day),
		},
		Weight: 1, Served: laketap.Served(rnd.IntN(3)),
	}
	for range 1 + rnd.IntN(3) {
		p := laketap.PartBytes{Part: laketap.Part{Kind: laketap.ColumnChunkPart, Field: 1 + min(int(rnd.ExpFloat64()*4), 19)}, Bytes: 1 << 20, First: true}
		o.Parts = append(o.Parts, p)
		o.Bytes += p.Bytes
	}
	return o
}
