package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// namespaceBody is a namespace as clients send and get it.
type namespaceBody struct {
	Namespace  namespace         `json:"namespace"`
	Properties map[string]string `json:"properties"`
}

// queryer is what a database and a transaction have in common.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// listNamespaces lists the children of ?parent=, or the outermost namespaces.
func (c *Catalog) listNamespaces(r *request) (reply, error) {
	prefix := ""
	if text := r.URL.Query().Get("parent"); text != "" {
		parent, err := parseNamespace(text)
		if err != nil {
			return reply{}, err
		}
		if _, err := propertiesOf(r.Context(), c.db, parent); err != nil {
			return reply{}, err
		}
		prefix = parent.below()
	}
	// Not LIKE: names may hold its wildcards, and it ignores the case of letters.
	names, err := column(r.Context(), c.db,
		"select name from namespaces where substr(name, 1, length(?)) = ? and instr(substr(name, length(?) + 1), char(31)) = 0 order by name",
		prefix, prefix, prefix)
	if err != nil {
		return reply{}, fmt.Errorf("list namespaces: %w", err)
	}
	found := []namespace{}
	for _, name := range names {
		found = append(found, strings.Split(name, separator))
	}
	page, next, err := pageOf(r, found)
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, body: map[string]any{"namespaces": page, "next-page-token": next}}, nil
}

// createNamespace creates a namespace and, like mkdir -p, those around it.
func (c *Catalog) createNamespace(r *request) (reply, error) {
	var body namespaceBody
	if err := r.decode(&body); err != nil {
		return reply{}, err
	}
	if err := body.Namespace.check(); err != nil {
		return reply{}, err
	}
	// The answer must hold an object where the client sent none.
	if body.Properties == nil {
		body.Properties = map[string]string{}
	}
	properties, err := json.Marshal(body.Properties)
	if err != nil {
		return reply{}, fmt.Errorf("encode properties: %w", err)
	}
	const insert = "insert into namespaces(name, properties, created_ms) values(?, ?, ?) on conflict do nothing"
	now := c.options.Now().UnixMilli()
	err = c.write(r.Context(), func(ctx context.Context, tx *sql.Tx) error {
		for _, around := range body.Namespace.ancestors() {
			if _, err := tx.ExecContext(ctx, insert, around.key(), "{}", now); err != nil {
				return fmt.Errorf("create namespace %s: %w", around, err)
			}
		}
		changed, err := affected(tx.ExecContext(ctx, insert, body.Namespace.key(), string(properties), now))
		if err != nil {
			return fmt.Errorf("create namespace %s: %w", body.Namespace, err)
		}
		if changed == 0 {
			return namespaceExists(body.Namespace)
		}
		return nil
	})
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, body: body}, nil
}

func (c *Catalog) loadNamespace(r *request) (reply, error) {
	properties, err := propertiesOf(r.Context(), c.db, r.namespace)
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, body: namespaceBody{r.namespace, properties}}, nil
}

func (c *Catalog) namespaceExists(r *request) (reply, error) {
	if _, err := propertiesOf(r.Context(), c.db, r.namespace); err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusNoContent}, nil
}

func (c *Catalog) dropNamespace(r *request) (reply, error) {
	err := c.write(r.Context(), func(ctx context.Context, tx *sql.Tx) error {
		if _, err := propertiesOf(ctx, tx, r.namespace); err != nil {
			return err
		}
		var tables, children int
		err := tx.QueryRowContext(ctx,
			"select (select count(*) from tables where namespace = ?), (select count(*) from namespaces where substr(name, 1, length(?)) = ?)",
			r.namespace.key(), r.namespace.below(), r.namespace.below()).Scan(&tables, &children)
		switch {
		case err != nil:
			return fmt.Errorf("look into namespace %s: %w", r.namespace, err)
		case tables > 0:
			return namespaceNotEmpty(r.namespace, "tables and views")
		case children > 0:
			return namespaceNotEmpty(r.namespace, "namespaces")
		}
		if _, err := tx.ExecContext(ctx, "delete from namespaces where name = ?", r.namespace.key()); err != nil {
			return fmt.Errorf("drop namespace %s: %w", r.namespace, err)
		}
		return nil
	})
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusNoContent}, nil
}

// updateBody is the change to a namespace's properties.
type updateBody struct {
	Removals []string          `json:"removals"`
	Updates  map[string]string `json:"updates"`
}

// updatedBody says what the change did.
type updatedBody struct {
	Updated []string `json:"updated"`
	Removed []string `json:"removed"`
	Missing []string `json:"missing"`
}

func (c *Catalog) updateNamespace(r *request) (reply, error) {
	var change updateBody
	if err := r.decode(&change); err != nil {
		return reply{}, err
	}
	for _, key := range change.Removals {
		if _, both := change.Updates[key]; both {
			return reply{}, &apiError{
				http.StatusUnprocessableEntity, "UnprocessableEntityException",
				"property " + key + " is both updated and removed",
			}
		}
	}
	var done updatedBody
	err := c.write(r.Context(), func(ctx context.Context, tx *sql.Tx) error {
		properties, err := propertiesOf(ctx, tx, r.namespace)
		if err != nil {
			return err
		}
		done = change.apply(properties)
		text, err := json.Marshal(properties)
		if err != nil {
			return fmt.Errorf("encode properties: %w", err)
		}
		if _, err := tx.ExecContext(ctx, "update namespaces set properties = ? where name = ?", string(text), r.namespace.key()); err != nil {
			return fmt.Errorf("update namespace %s: %w", r.namespace, err)
		}
		return nil
	})
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, body: done}, nil
}

// apply changes properties in place and reports, sorted, what happened.
func (u updateBody) apply(properties map[string]string) updatedBody {
	done := updatedBody{Updated: []string{}, Removed: []string{}, Missing: []string{}}
	for key, value := range u.Updates {
		properties[key] = value
		done.Updated = append(done.Updated, key)
	}
	for _, key := range u.Removals {
		if _, ok := properties[key]; ok {
			delete(properties, key)
			done.Removed = append(done.Removed, key)
		} else {
			done.Missing = append(done.Missing, key)
		}
	}
	slices.Sort(done.Updated)
	slices.Sort(done.Removed)
	slices.Sort(done.Missing)
	return done
}

// propertiesOf reads a namespace; one that is not there is the protocol's 404.
func propertiesOf(ctx context.Context, q queryer, ns namespace) (map[string]string, error) {
	var text string
	err := q.QueryRowContext(ctx, "select properties from namespaces where name = ?", ns.key()).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, noSuchNamespace(ns)
	}
	if err != nil {
		return nil, fmt.Errorf("read namespace %s: %w", ns, err)
	}
	properties := map[string]string{}
	if err := json.Unmarshal([]byte(text), &properties); err != nil {
		return nil, fmt.Errorf("read properties of namespace %s: %w", ns, err)
	}
	return properties, nil
}

// column reads the only column of a query.
func column(ctx context.Context, q queryer, query string, args ...any) ([]string, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			return nil, err
		}
		out = append(out, value)
	}
	return out, rows.Err()
}

// affected is how many rows a statement changed.
func affected(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
