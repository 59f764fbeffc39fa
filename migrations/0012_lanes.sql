-- The looks inside a lane in PL/pgSQL: a function in SQL is planned anew at every call, and a claim
-- makes hundreds of them. The claim has turned sorts off, so that each head is found in index order; the sorts
-- that remain look so dear to the planner then that it would compile the query to machine code first.

-- Whether the head of any ordering key of this lane is due: stops at the first that is.
CREATE OR REPLACE FUNCTION wonce.is_lane_due(p_handler bigint, p_lane smallint, p_due timestamptz) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    is_due boolean;
BEGIN
    WITH RECURSIVE head AS (
        (SELECT i.ordering_key, i.due_at FROM wonce.inbox i
         WHERE i.handler_id = p_handler AND i.lane = p_lane
         ORDER BY i.ordering_key, i.id LIMIT 1)
        UNION ALL
        SELECT n.ordering_key, n.due_at
        FROM head h
        CROSS JOIN LATERAL (
            SELECT i.ordering_key, i.due_at FROM wonce.inbox i
            WHERE i.handler_id = p_handler AND i.lane = p_lane AND i.ordering_key > h.ordering_key
            ORDER BY i.ordering_key, i.id LIMIT 1) AS n
    )
    SELECT EXISTS (SELECT FROM head WHERE head.due_at <= p_due) INTO is_due;
    RETURN is_due;
END
$$;

-- Up to `p_limit` deliveries of a lane in an order that may be handled one after the other: of each
-- ordering key with a due head, the head and what waits behind it. First all heads, then all
-- seconds: no key crowds out another. A loose index scan: one row a key, however many wait.
CREATE OR REPLACE FUNCTION wonce.due_in_lane(p_handler bigint, p_lane smallint, p_due timestamptz, p_limit integer)
RETURNS bigint[]
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    ids bigint[];
BEGIN
    WITH RECURSIVE head AS (
        (SELECT i.ordering_key, i.due_at FROM wonce.inbox i
         WHERE i.handler_id = p_handler AND i.lane = p_lane
         ORDER BY i.ordering_key, i.id LIMIT 1)
        UNION ALL
        SELECT n.ordering_key, n.due_at
        FROM head h
        CROSS JOIN LATERAL (
            SELECT i.ordering_key, i.due_at FROM wonce.inbox i
            WHERE i.handler_id = p_handler AND i.lane = p_lane AND i.ordering_key > h.ordering_key
            ORDER BY i.ordering_key, i.id LIMIT 1) AS n
    ), chosen AS (
        SELECT f.id
        FROM head h
        CROSS JOIN LATERAL (
            SELECT i.id, row_number() OVER w AS place, bool_and(i.due_at <= p_due) OVER w AS open
            FROM (SELECT x.id, x.due_at FROM wonce.inbox x
                  WHERE x.handler_id = p_handler AND x.lane = p_lane AND x.ordering_key = h.ordering_key
                  ORDER BY x.id LIMIT p_limit) AS i
            WINDOW w AS (ORDER BY i.id)) AS f
        WHERE h.due_at <= p_due AND f.open
        ORDER BY f.place, f.id
        LIMIT p_limit
    )
    SELECT ARRAY(SELECT c.id FROM chosen c ORDER BY c.id) INTO ids;
    RETURN ids;
END
$$;

ALTER FUNCTION wonce.claim_lanes(bigint, timestamptz, integer, smallint) SET jit = off;
