#!/usr/bin/python3
"""Finds the places of a C++ source where a rule can be broken, and writes the source with all of them in it.

    scripts/mutants/sites.py FILE [COMPILER FLAG…]    prints the mutated source

Every place is found by rule in the syntax tree and becomes an expression that does as before unless its mutant is
chosen at run time (pawl_mutant.h). Places inside macros are left alone, so that no assertion is mutated, and so is what
the compiler has to know: constants, case labels, template arguments.
"""

import dataclasses
import re
import sys

from clang.cindex import CursorKind, Index, TranslationUnit

SWAPPED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&"}
ASSIGNING = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}

NEVER_RUN = {
    CursorKind.STATIC_ASSERT,
    CursorKind.ENUM_DECL,
    CursorKind.TYPE_ALIAS_DECL,
    CursorKind.TEMPLATE_TYPE_PARAMETER,
    CursorKind.TEMPLATE_NON_TYPE_PARAMETER,
    CursorKind.TEMPLATE_TEMPLATE_PARAMETER,
    CursorKind.DECL_REF_EXPR,  # its parts are template arguments
    CursorKind.CXX_UNARY_EXPR,  # sizeof and its like
}
VARIABLES = {CursorKind.VAR_DECL, CursorKind.FIELD_DECL, CursorKind.PARM_DECL}
WITH_HEADER = {CursorKind.IF_STMT, CursorKind.WHILE_STMT, CursorKind.FOR_STMT}
BODY_LAST = {CursorKind.CASE_STMT, CursorKind.DEFAULT_STMT, CursorKind.LABEL_STMT, CursorKind.CXX_FOR_RANGE_STMT}
WRAPPERS = {CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR, CursorKind.INIT_LIST_EXPR,
            CursorKind.CXX_FUNCTIONAL_CAST_EXPR}


class CannotParse(Exception):
    pass


@dataclasses.dataclass(eq=False)
class Site:
    """One place: the text from `start` to `end` is replaced by `pieces`, in which a pair is a part of the source."""

    rule: str
    start: int
    end: int
    place: int  # where the change itself is
    pieces: list
    number: int = 0  # among all sources
    file: str = ""
    line: int = 0
    text: str = ""  # of the line
    ordinal: int = 1  # among the sites with equal rule and text in this file

    def name(self):
        """Says which one it is, whatever happens to other lines."""
        rule = self.rule if self.ordinal == 1 else f"{self.rule} #{self.ordinal}"
        return f"{self.file} | {self.text} | {rule}"


class Source:
    """The text of a file and its sites, in the order of the text."""

    def __init__(self, path, flags, name):
        # Offsets count bytes; so does this text.
        with open(path, encoding="latin-1", newline="") as file:
            self.text = file.read()
        unit = Index.create().parse(
            path, args=["-x", "c++", *flags], options=TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
        errors = [str(diagnostic) for diagnostic in unit.diagnostics if diagnostic.severity >= 3]
        if errors:
            raise CannotParse("\n".join(errors))
        self.name = name
        self.sites = []
        in_file = [cursor for cursor in unit.cursor.get_children()
                   if cursor.location.file and cursor.location.file.name == path]
        self._macros = [extent(cursor) for cursor in in_file if cursor.kind == CursorKind.MACRO_INSTANTIATION]
        for cursor in in_file:
            self._visit(cursor, runs=True)
        # To negate an equality would be the same change again.
        equalities = {(site.start, site.end) for site in self.sites if site.rule in ("== to !=", "!= to ==")}
        self.sites = [site for site in self.sites
                      if site.rule != "negate" or (site.start, site.end) not in equalities]
        self.sites.sort(key=lambda site: (site.place, site.rule != "negate"))
        self._name_sites()

    def mutated(self, dropped=()):
        """The text with all sites in it but the dropped."""
        # Outer ones first; what negates a condition is around what else is there.
        kept = [site for site in self.sites if site not in dropped]
        kept.sort(key=lambda site: (site.start, -site.end, site.rule != "negate"))
        return self._render((0, len(self.text)), kept)

    def _render(self, span, sites):
        start, end = span
        parts = []
        position = start
        for i, site in enumerate(sites):
            if site.start < position or site.end > end:
                continue  # elsewhere, or inside the last one
            inner = sites[i + 1:]
            parts.append(self.text[position:site.start])
            for piece in site.pieces:
                if isinstance(piece, str):
                    parts.append(piece.replace("@", f"pawl_mutant({site.number})"))
                else:
                    parts.append(self._render(piece, inner))
            position = site.end
        parts.append(self.text[position:end])
        return "".join(parts)

    def _name_sites(self):
        seen = {}
        for site in self.sites:
            begin = self.text.rfind("\n", 0, site.place) + 1
            line = self.text[begin:self.text.find("\n", site.place)]
            site.file = self.name
            site.line = self.text.count("\n", 0, begin) + 1
            site.text = line.encode("latin-1").decode().strip()
            site.ordinal = seen[site.text, site.rule] = seen.get((site.text, site.rule), 0) + 1

    def _add(self, rule, span, pieces, place=None):
        place = span[0] if place is None else place
        if not any(site.rule == rule and site.place == place for site in self.sites):  # the tree may have it twice
            self.sites.append(Site(rule, *span, place, pieces))

    def _in_macro(self, span):
        return any(start <= span[0] and span[1] <= end for start, end in self._macros)

    def _code(self, start, end):
        """The text without its comments and the space around it."""
        return re.sub(r"//[^\n]*|/\*.*?\*/", "", self.text[start:end], flags=re.DOTALL).strip()

    def _visit(self, cursor, runs):
        """`runs` is false within what the compiler has to know."""
        if cursor.kind in NEVER_RUN or self._in_macro(extent(cursor)):
            return
        if cursor.kind == CursorKind.COMPOUND_STMT and self.text[cursor.extent.start.offset] != "{":
            return  # what the compiler wrote for `= default`
        if cursor.kind == CursorKind.VAR_DECL:
            before_name = self.text[cursor.extent.start.offset:cursor.location.offset]
            runs = runs and not re.search(r"\bconst(expr|init)\b", before_name)
        elif cursor.kind == CursorKind.LAMBDA_EXPR:
            runs = True

        children = list(cursor.get_children())
        if runs:
            self._find_sites(cursor, children)
        for child in children:
            self._visit(child, runs and not self._is_known(child, cursor, children))

    def _is_known(self, child, cursor, siblings):
        """Whether it is a part that the compiler has to know."""
        if cursor.kind == CursorKind.CASE_STMT or self._is_if_constexpr(cursor):
            return child is siblings[0]
        name_at = cursor.location.offset
        child_at = child.extent.start.offset
        if cursor.kind in VARIABLES:  # its type, or the size of an array or a bit field
            between = self._code(name_at + len(cursor.spelling), child_at)
            return child_at < name_at or between.startswith(":") or between.count("[") > between.count("]")
        return cursor.kind == CursorKind.MEMBER_REF_EXPR and child_at > name_at  # a template argument

    def _is_if_constexpr(self, cursor):
        return cursor.kind == CursorKind.IF_STMT and bool(
            re.match(r"if\s+constexpr\b", self.text[cursor.extent.start.offset:]))

    def _find_sites(self, cursor, children):
        kind = cursor.kind
        if kind in WITH_HEADER:
            self._statement_with_header(cursor, children)
        elif kind == CursorKind.DO_STMT:
            self._assignment(children[0])
            self._condition(children[1])
        elif kind == CursorKind.CONDITIONAL_OPERATOR:
            self._condition(children[0])
        elif kind == CursorKind.COMPOUND_STMT:
            for child in children:
                self._assignment(child)
        elif kind in BODY_LAST and children:
            self._assignment(children[-1])
        elif kind == CursorKind.RETURN_STMT and children:
            self._returned(children[0])
        elif kind in (CursorKind.BINARY_OPERATOR, CursorKind.CALL_EXPR):
            self._operator(cursor)

    def _statement_with_header(self, cursor, children):
        depth = 0
        ends = []  # of the parts between the brackets
        for token in cursor.get_tokens():
            if token.spelling in ("(", "[", "{"):
                depth += 1
            elif token.spelling in (")", "]", "}"):
                depth -= 1
            if depth == 0 and token.spelling == ")" or depth == 1 and token.spelling == ";":
                ends.append(token.extent.start.offset)
            if depth == 0 and token.spelling == ")":
                break

        condition_part = 1 if cursor.kind == CursorKind.FOR_STMT else len(ends) - 1
        in_condition = []
        for child in children:
            part = sum(child.extent.start.offset > end for end in ends)
            if part == condition_part:
                in_condition.append(child)
            else:
                self._assignment(child)
        if not in_condition or self._is_if_constexpr(cursor):
            return
        if in_condition[0].kind != CursorKind.VAR_DECL:
            self._condition(in_condition[0])
        elif cursor.kind == CursorKind.IF_STMT and condition_part == 0:
            variable = in_condition[0]
            span = extent(variable)
            self._add("negate", span, [span, f";\n::@ != static_cast<bool>({variable.spelling})"])

    def _condition(self, cursor):
        span = extent(cursor)
        if not self._in_macro(span):
            self._add("negate", span, ["(\n::@ != static_cast<bool>(", span, "))"])

    def _operands(self, cursor):
        """Operator, left, right and the operator's place, of an expression with two operands. Goes by the text, since
        the tree has `!(a == b)` for `a != b` at times."""
        if cursor.kind not in (CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR,
                               CursorKind.CALL_EXPR):
            return None
        spans = sorted(extent(child) for child in cursor.get_children())
        if len(spans) < 2:
            return None
        left, right = spans[0], spans[-1]
        operator = self._code(left[1], right[0])
        if operator not in SWAPPED and operator not in ASSIGNING:
            return None
        return operator, left, right, self.text.index(operator, left[1])

    def _operator(self, cursor):
        found = self._operands(cursor)
        if not found or found[0] not in SWAPPED:
            return
        operator, left, right, place = found
        rule = f"{operator} to {SWAPPED[operator]}"
        if operator in ("&&", "||"):
            if cursor.kind != CursorKind.BINARY_OPERATOR:
                return
            goes_on, otherwise = ("!=", "") if operator == "&&" else ("==", " !")
            pieces = ["((static_cast<bool>(", left, f") {goes_on}\n::@) ? static_cast<bool>(", right,
                      f") :{otherwise}\n::@)"]
        else:
            pieces = ["(\n::@ ? (", left, f"\n{SWAPPED[operator]} /*@*/\n", right, ") : (", (left[0], right[1]), "))"]
        self._add(rule, (left[0], right[1]), pieces, place)

    def _assignment(self, cursor):
        """A statement that is an assignment, or ++ or --."""
        span = extent(cursor)
        if self._in_macro(span):
            return
        expression = unwrapped(cursor)
        found = self._operands(expression)
        step = expression.kind in (CursorKind.UNARY_OPERATOR, CursorKind.CALL_EXPR) and re.fullmatch(
            r"(\+\+|--).*|.*(\+\+|--)", self.text[span[0]:span[1]], re.DOTALL)
        if found and found[0] in ASSIGNING or step:
            self._add("delete", span, ["(\n::@ ? static_cast<void>(0) : static_cast<void>(", span, "))"])

    def _returned(self, cursor):
        """Enumerators that a function returns, alone or as a member of what it returns."""
        if self._in_macro(extent(cursor)):
            return
        target = cursor.referenced
        if cursor.kind == CursorKind.DECL_REF_EXPR:
            if target and target.kind == CursorKind.ENUM_CONSTANT_DECL:
                self._enumerator(cursor, target)
        elif cursor.kind == CursorKind.CONDITIONAL_OPERATOR:
            for arm in list(cursor.get_children())[1:]:
                self._returned(arm)
        elif cursor.kind in WRAPPERS or target and target.kind == CursorKind.CONSTRUCTOR:
            for child in cursor.get_children():
                self._returned(child)

    def _enumerator(self, cursor, target):
        all_of_it = [other for other in target.semantic_parent.get_children()
                     if other.kind == CursorKind.ENUM_CONSTANT_DECL]
        at = [other.spelling for other in all_of_it].index(target.spelling)
        others = [other for other in all_of_it[at + 1:] + all_of_it[:at] if other.enum_value != target.enum_value]
        span = extent(cursor)
        written = self.text[span[0]:span[1]]
        if others and written.endswith(target.spelling):
            neighbour = written[:-len(target.spelling)] + others[0].spelling
            rule = f"{target.spelling} to {others[0].spelling}"
            self._add(rule, span, [f"(\n::@ ? {neighbour} : ", span, ")"])


def extent(cursor):
    return cursor.extent.start.offset, cursor.extent.end.offset


def unwrapped(cursor):
    """Without the brackets around it and what the compiler puts there."""
    while cursor.kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR):
        children = list(cursor.get_children())
        if len(children) != 1:
            break
        cursor = children[0]
    return cursor


def number_sites(sources):
    """From 1 on, since 0 is none; gives them all."""
    sites = [site for source in sources for site in source.sites]
    for number, site in enumerate(sites, 1):
        site.number = number
    return sites


def main():
    path, *flags = sys.argv[1:]
    source = Source(path, flags, path)
    number_sites([source])
    sys.stdout.buffer.write(source.mutated().encode("latin-1"))


if __name__ == "__main__":
    main()
