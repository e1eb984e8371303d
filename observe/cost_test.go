package observe_test

import (
	"bytes"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/observe"
)

// Recording makes no garbage but the copy of the key.
func TestAccessAllocatesOnce(t *testing.T) {
	o := observe.New(observe.Options{Accesses: 16})
	a := get(spark, 1)
	for range 32 { // every slot and counter exists
		o.Access(a)
	}
	if got := testing.AllocsPerRun(1000, func() { o.Access(a) }); got > 1 {
		t.Errorf("an access allocates %v times, want once", got)
	}
}

// An idle observer does not pay for a full one.
func TestAnIdleObserverIsSmall(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	observers := make([]*observe.Observer, 16)
	for i := range observers {
		observers[i] = observe.New(observe.Options{})
		observers[i].Access(get(spark, 1))
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / uint64(len(observers)); each > 1<<20 {
		t.Errorf("an observer with one access takes %d bytes", each)
	}
	runtime.KeepAlive(observers)
}

// A key that was cut from a large buffer does not keep the buffer.
func TestKeysAreCopied(t *testing.T) {
	o := observe.New(observe.Options{})
	freed := make(chan struct{})
	func() {
		buffer := bytes.Repeat([]byte("x"), 32<<10)
		runtime.AddCleanup(&buffer[0], func(ch chan struct{}) { close(ch) }, freed)
		a := get(spark, 1)
		a.Object.Key = unsafe.String(&buffer[100], 20)
		o.Access(a)
	}()
	for range 100 {
		runtime.GC()
		select {
		case <-freed:
			if got := o.Accesses(laketap.AccessQuery{}).Accesses[0].Object.Key; got != strings.Repeat("x", 20) {
				t.Errorf("got key %q", got)
			}
			return
		default:
			runtime.Gosched()
		}
	}
	t.Error("the buffer of a request is kept")
}

// However many wait and search, recording goes on, and nothing is lost.
func TestAccessDoesNotWaitForReaders(t *testing.T) {
	o := observe.New(observe.Options{})
	const accesses = 20_000
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for after := uint64(0); ; {
				select {
				case <-stop:
					return
				default:
					after = o.Accesses(laketap.AccessQuery{After: after, Engine: "none"}).Next
					o.Tables()
				}
			}
		})
	}
	for n := range accesses {
		o.Access(get(spark, n%50))
	}
	close(stop)
	readers.Wait()
	if got := o.Engines()[0].Storage.Requests; got != accesses {
		t.Errorf("counted %d, want %d", got, accesses)
	}
}
