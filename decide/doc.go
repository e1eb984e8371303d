// Package decide owns judgement: policies that look at the memory and a time and
// say what should be done, each time with a reason, the evidence for it, what is
// expected of it and when it ends. They are pure: the same memory, time and
// settings give the same decisions.
//
// It refuses network, disk and clocks. What is decided is carried out by others
// (reuse/prefetch, reuse/block), who tell what came of it; so a habit that no
// longer holds costs a bounded number of reads and is then left alone.
package decide
