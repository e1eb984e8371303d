package laketap

import "time"

// A HabitKind is what a habit is about.
type HabitKind string

// The kinds of habits.
const (
	TableHabit     HabitKind = "table"     // data files of the table that were opened
	ColumnHabit    HabitKind = "column"    // data files in which a column was read
	PartitionHabit HabitKind = "partition" // data files of a partition that were opened
	PredicateHabit HabitKind = "predicate" // queries with a predicate of a shape
	HourHabit      HabitKind = "hour"      // data files that were opened in an hour of the week (0 is Monday 00:00 UTC)
)

// A Habit is heat on what outlives files, by who has it. The uses of a column
// over the uses of its table by the same engine are how likely an engine that
// opens a file reads that column in it.
type Habit struct {
	Table  TableID
	Kind   HabitKind
	Field  int    // of a column; 0 elsewhere
	Value  string // of a partition as in [File].Partition, a predicate's shape, an hour "0" to "167"; "" elsewhere
	Engine Engine
	Uses   Heat
	Bytes  int64 // read, since First
	First  time.Time
	Last   time.Time
}
