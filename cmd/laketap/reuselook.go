package main

import (
	"context"

	"github.com/laketap/laketap"
	"github.com/laketap/laketap/admin"
	"github.com/laketap/laketap/reuse/block"
	"github.com/laketap/laketap/tap"
)

// A cacheView is the block cache as people look at it and empty it.
type cacheView struct {
	blocks *block.Cache // nil: nothing is kept
	tables *tap.Tables
}

// held tells what the cache holds; nil if there is none.
func (n *node) held() *admin.Cache { return cacheView{blocks: n.blocks}.Cache() }

// Cache tells what is held; nil if there is no cache.
func (c cacheView) Cache() *admin.Cache {
	if c.blocks == nil {
		return nil
	}
	s := c.blocks.Stats()
	return &admin.Cache{
		Dir: s.Dir, Objects: s.Objects, Extents: s.Extents, Memory: s.RAM, MaxMemory: s.MaxRAM, Disk: s.Disk, MaxDisk: s.MaxDisk, Problem: s.Trouble,
		Given: admin.Given(s.Traffic),
	}
}

// Forget drops what is held of a table, or of all if it is not named. An object
// is of the table whose location is the longest above it.
func (c cacheView) Forget(table string) (objects int, known bool) {
	if table == "" {
		return c.blocks.ForgetAll(func(laketap.Object) bool { return true }), true
	}
	ids := map[laketap.TableID]bool{}
	for _, t := range c.tables.All() {
		if table == t.ID.UUID || table == t.ID.Catalog+"."+t.Name {
			ids[t.ID] = true
		}
	}
	if len(ids) == 0 {
		return 0, false
	}
	return c.blocks.ForgetAll(func(o laketap.Object) bool {
		t, ok := c.tables.At(o.ObjectName)
		return ok && ids[t.ID]
	}), true
}

// Verify reads all that is on disk.
func (c cacheView) Verify(ctx context.Context, told func(admin.Verified)) (admin.Verified, error) {
	shape := func(v block.Verified) admin.Verified {
		return admin.Verified{Of: v.Of, Extents: v.Extents, Bytes: v.Bytes, Damaged: v.Damaged}
	}
	v, err := c.blocks.Verify(ctx, func(v block.Verified) { told(shape(v)) })
	return shape(v), err
}
