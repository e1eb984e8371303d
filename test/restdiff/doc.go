// Package restdiff proves that a catalog behind Laketap is the same catalog:
// Iceberg's own tests of catalogs and views (Java) and iceberg-go's come to the
// same verdict on every test, directly and through Laketap. What a catalog
// cannot do by itself is not asked; that it cannot do it through Laketap, is.
//
// A difference counts when it stands three times in a row. Known ones stand in
// exceptions.txt with their reasons.
package restdiff
