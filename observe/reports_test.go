package observe_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/observe"
)

func TestReports(t *testing.T) {
	for _, c := range []struct {
		name  string
		opts  observe.Options
		sizes []int
		want  []int // sizes of those kept
	}{
		{"all fit", observe.Options{}, []int{1, 2, 3}, []int{1, 2, 3}},
		{"bounded in number", observe.Options{Reports: 2}, []int{1, 2, 3}, []int{2, 3}},
		{"bounded in bytes", observe.Options{ReportBytes: 10}, []int{4, 5, 6}, []int{6}},
		{"exactly full", observe.Options{ReportBytes: 10}, []int{4, 6}, []int{4, 6}},
		{"too large alone", observe.Options{ReportBytes: 10}, []int{4, 11, 5}, []int{4, 5}},
		{"empty bodies", observe.Options{Reports: 1}, []int{0, 0}, []int{0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := observe.New(c.opts)
			for _, size := range c.sizes {
				o.Report(laketap.Report{Kind: "scan-report", Body: make([]byte, size)})
			}
			kept := o.Reports()
			got := make([]int, 0, len(kept))
			for _, r := range kept {
				got = append(got, len(r.Body))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReportsStayBoundedForLong(t *testing.T) {
	o := observe.New(observe.Options{Reports: 16})
	for n := range 10_000 {
		o.Report(laketap.Report{Kind: fmt.Sprint("kind ", n)})
	}
	if got := len(o.Reports()); got != 16 {
		t.Errorf("kept %d, want 16", got)
	}
}

func TestTimeOfAReportIsFilledIn(t *testing.T) {
	o := observe.New(observe.Options{Now: func() time.Time { return start }})
	o.Report(laketap.Report{})
	if got := o.Reports()[0].At; !got.Equal(start) {
		t.Errorf("got %v, want %v", got, start)
	}
}
