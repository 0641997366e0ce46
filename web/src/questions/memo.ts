import { Component, h, type ComponentType } from "preact";

/** A component that is made again only if one of its properties is another. */
export function memo<P extends object>(Inner: ComponentType<P>): ComponentType<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const before = this.props as Record<string, unknown>;
      const after = next as Record<string, unknown>;
      const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
      return [...keys].some((key) => before[key] !== after[key]);
    }
    override render() {
      return h(Inner, this.props as P);
    }
  };
}
